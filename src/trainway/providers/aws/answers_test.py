"""What EC2 answers, in our words."""

from datetime import UTC, datetime
from typing import Any

import pytest

from trainway.providers.aws.answers import (
    STATES,
    Subnet,
    ended,
    ended_by_other,
    machine,
    notices,
    one_for_each_zone,
    subnet,
)
from trainway.providers.base import Machine, MachineState, Notice, Place

NOW = datetime(2026, 11, 18, 12, 0, tzinfo=UTC)


def test_a_machine_says_what_it_is() -> None:
    answer = {
        "InstanceId": "i-1",
        "AmiLaunchIndex": 3,
        "InstanceType": "p5.48xlarge",
        "InstanceLifecycle": "spot",
        "State": {"Name": "shutting-down"},
        "StateReason": {"Code": "Server.SpotInstanceTermination", "Message": "taken"},
        "Placement": {"AvailabilityZone": "us-east-1a"},
        "PublicIpAddress": "192.0.2.7",
        "PrivateIpAddress": "10.0.0.7",
        "LaunchTime": datetime(2026, 11, 18, 11, 0, 5, tzinfo=UTC),
        "Tags": [
            {"Key": "trainway-token", "Value": "t1"},
            {"Key": "trainway-cluster", "Value": "train"},
            {"Key": "trainway-user", "Value": "dev"},
        ],
    }
    assert machine("us-east-1", answer) == Machine(
        id="i-1",
        token="t1",  # noqa: S106 - the name of a request
        cluster="train",
        rank=3,
        place=Place("us-east-1", "us-east-1a"),
        state=MachineState.ENDING,
        instance_type="p5.48xlarge",
        spot=True,
        public_address="192.0.2.7",
        private_address="10.0.0.7",
        user="dev",
        why="taken",
        launched="2026-11-18T11:00:05+00:00",
    )


@pytest.mark.parametrize(
    ("state", "reason", "when"),
    [
        ("terminated", "User initiated (2026-11-18 12:00:07 GMT)", "2026-11-18T12:00:07+00:00"),
        ("stopped", "User initiated (2026-11-18 12:00:07 UTC)", "2026-11-18T12:00:07+00:00"),
        ("running", "User initiated (2026-11-18 12:00:07 GMT)", ""),
        ("terminated", "Server.SpotInstanceTermination", ""),
        ("terminated", None, ""),
    ],
)
def test_a_machine_says_when_it_ended(state: str, reason: str | None, when: str) -> None:
    assert ended({"State": {"Name": state}, "StateTransitionReason": reason}) == when


@pytest.mark.parametrize(
    ("state", "reason", "words"),
    [
        ("terminated", {"Code": "Server.SpotInstanceTermination", "Message": "taken"}, ""),
        ("terminated", {"Code": "Server.InternalError", "Message": "an error"}, ""),
        ("terminated", {"Code": "Client.UserInitiatedShutdown", "Message": "a user"}, "a user"),
        ("shutting-down", {"Code": "Client.InstanceInitiatedShutdown"},
         "Client.InstanceInitiatedShutdown"),
        ("running", {"Code": "Client.UserInitiatedShutdown"}, ""),
        ("terminated", None, ""),
    ],
)  # fmt: skip
def test_a_machine_says_who_ended_it(state: str, reason: Any, words: str) -> None:
    assert ended_by_other({"State": {"Name": state}, "StateReason": reason}) == words


def test_a_bare_answer_is_no_error() -> None:
    assert machine("r", {"InstanceId": "i-1"}).state is MachineState.STARTING


def test_every_state_has_its_word() -> None:
    assert set(STATES.values()) == set(MachineState)


def test_a_spot_machine_has_two_minutes() -> None:
    told = {"Code": "marked-for-termination", "UpdateTime": NOW, "Message": "soon"}
    requests: list[dict[str, Any]] = [
        {"InstanceId": "i-1", "Status": told},
        {"InstanceId": "i-2", "Status": {"Code": "fulfilled", "UpdateTime": NOW}},
        {"Status": told},
    ]
    assert notices(requests, NOW) == [
        Notice("i-1", "2026-11-18T12:02:00Z", "marked-for-termination: soon")
    ]


def test_one_subnet_for_each_zone_and_public_ones_first() -> None:
    found = [
        Subnet("subnet-1", "b", "v", public=False),
        Subnet("subnet-2", "b", "v", public=True),
        Subnet("subnet-3", "a", "v", public=False),
    ]
    assert [each.id for each in one_for_each_zone(found, "")] == ["subnet-3", "subnet-2"]
    assert [each.id for each in one_for_each_zone(found, "b")] == ["subnet-2"]
    assert one_for_each_zone(found, "c") == []


def test_a_zone_is_found_by_the_id_that_catalogs_have() -> None:
    answer = {"SubnetId": "subnet-1", "AvailabilityZone": "us-east-1a", "VpcId": "v"}
    found = [
        subnet({**answer, "AvailabilityZoneId": "use1-az6"}),
        subnet({**answer, "SubnetId": "subnet-2", "AvailabilityZone": "us-east-1b"}),
    ]
    assert [each.id for each in one_for_each_zone(found, "use1-az6")] == ["subnet-1"]
    assert [each.id for each in one_for_each_zone(found, "us-east-1a")] == ["subnet-1"]
    assert [each.id for each in one_for_each_zone(found, "")] == ["subnet-1", "subnet-2"]
    assert one_for_each_zone(found, "use1-az4") == []
