"""The stand-in cloud keeps the contract, and breaks where it is told to."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from trainway.providers.base import MachineState, Place, Provider
from trainway.providers.contract_testing import OWNER, ProviderContract, gang, ids
from trainway.providers.errors import ProviderError, Scope, Trouble
from trainway.providers.testing import FILE_VARIABLE, Break, Fault, Killed, StandInCloud

PLACE = ProviderContract.place
OTHER_ZONE = Place("east", "east-b")


class TestStandIn(ProviderContract):
    @pytest.fixture
    def provider(self, tmp_path: Path) -> Provider:
        return StandInCloud(tmp_path / "cloud.json")


@pytest.fixture
def cloud(tmp_path: Path) -> StandInCloud:
    return StandInCloud(tmp_path / "cloud.json")


def test_half_a_gang_is_ended_again(cloud: StandInCloud) -> None:
    cloud.break_next(Fault("machine", Break.CAPACITY, skip=1))
    request = gang(PLACE, "small", 3)

    with pytest.raises(ProviderError) as caught:
        cloud.create(request)

    assert (caught.value.trouble, caught.value.scope) == (Trouble.CAPACITY, Scope.ZONE)
    assert cloud.machines() == []
    assert [each.state for each in cloud.all_machines()] == [MachineState.ENDED]
    assert len(cloud.create(request)) == 3


@pytest.mark.parametrize("breaks", [Break.KILLED_BEFORE, Break.KILLED_AFTER])
@pytest.mark.parametrize("skip", [0, 1, 2])
def test_a_killed_create_leaves_what_can_be_found_or_completed(
    cloud: StandInCloud, breaks: Break, skip: int
) -> None:
    cloud.break_next(Fault("machine", breaks, skip=skip))
    request = gang(PLACE, "small", 3)

    with pytest.raises(Killed):
        cloud.create(request)

    left = cloud.find(PLACE.region, OWNER)
    assert len(left) == skip + (breaks is Break.KILLED_AFTER)
    assert [each.rank for each in cloud.create(request)] == [0, 1, 2]
    assert len(cloud.machines()) == 3


def test_faults_are_for_their_place_only(cloud: StandInCloud) -> None:
    cloud.break_next(Fault("create", Break.CAPACITY, zone="east-b", times=2))

    assert len(cloud.create(gang(PLACE, "small"))) == 2
    for _ in range(2):
        with pytest.raises(ProviderError, match="no room"):
            cloud.create(gang(OTHER_ZONE, "small"))
    assert len(cloud.create(gang(OTHER_ZONE, "small"))) == 2


def test_an_answer_that_is_lost_was_done(cloud: StandInCloud) -> None:
    cloud.break_next(Fault("create", Break.LOST_ANSWER))
    request = gang(PLACE, "small")
    with pytest.raises(ProviderError, match="does not answer"):
        cloud.create(request)

    assert len(cloud.find(PLACE.region, OWNER, request.token)) == 2


def test_it_kills_a_process_that_has_it_by_the_variable(tmp_path: Path) -> None:
    file = tmp_path / "cloud.json"
    cloud = StandInCloud(file)
    cloud.break_next(Fault("check", Break.KILLED_BEFORE))
    program = "from trainway.providers.testing import StandInCloud; StandInCloud().check()"

    done = subprocess.run(
        [sys.executable, "-c", program], env={FILE_VARIABLE: str(file)}, check=False
    )

    assert done.returncode == -9
    assert cloud.calls() == ["check"]


def test_interruptions_are_told_first(cloud: StandInCloud) -> None:
    request = replace(gang(PLACE, "small"), spot=True)
    first, second = ids(cloud.create(request))
    cloud.warn(first, "2026-11-18T12:00:00Z")
    (notice,) = cloud.notices(PLACE.region, [first, second])
    assert (notice.machine, notice.at) == (first, "2026-11-18T12:00:00Z")

    cloud.take(first)
    assert ids(cloud.find(PLACE.region, OWNER)) == [second]


def test_machines_are_the_hosts_that_are_offered(cloud: StandInCloud) -> None:
    cloud.offer_hosts(["10.9.0.1", "10.9.0.2"], user="tester")
    one = gang(PLACE, "small")
    cloud.create(one)
    found = cloud.find(PLACE.region, OWNER)
    assert [(each.public_address, each.user) for each in found] == [
        ("10.9.0.1", "tester"),
        ("10.9.0.2", "tester"),
    ]

    cloud.end(PLACE.region, [found[0].id])
    again = gang(PLACE, "small", 1)
    cloud.create(again)
    (machine,) = cloud.find(PLACE.region, OWNER, again.token)
    assert machine.public_address == "10.9.0.1"


def test_rules_stay_until_they_are_released(cloud: StandInCloud) -> None:
    request = gang(PLACE, "small")
    cloud.create(request)
    assert cloud.rules() == [f"{OWNER}/{request.cluster}"]

    cloud.release(PLACE.region, OWNER, request.cluster)
    assert cloud.rules() == []


def test_a_foreign_machine_is_not_ours(cloud: StandInCloud) -> None:
    cloud.add_foreign(PLACE.region, Name="somebody")
    assert cloud.find(PLACE.region, OWNER) == []
    assert len(cloud.machines()) == 1
