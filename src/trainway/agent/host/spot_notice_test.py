"""What clouds say to spot machines, in answers that are written from their public documentation."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from trainway.agent.host.metadata_request import Answer
from trainway.agent.host.spot_notice import SOURCES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainway.agent.host.spot_notice import Finding

ACTION = "/latest/meta-data/spot/instance-action"
REBALANCE = "/latest/meta-data/events/recommendations/rebalance"
TOKEN = "/latest/api/token"  # noqa: S105 - a path
PREEMPTED = "/computeMetadata/v1/instance/preempted"
MAINTENANCE = "/computeMetadata/v1/instance/maintenance-event"
EVENTS = "/metadata/scheduledevents?api-version=2020-07-01"
TERMINATE = "TERMINATE_ON_HOST_MAINTENANCE"
GOOGLE = {"metadata-flavor": "Google"}


def preempt(**changes: object) -> str:
    event = {
        "EventId": "A123BC45-1234-5678-AB90-ABCDEF123456",
        "EventType": "Preempt",
        "ResourceType": "VirtualMachine",
        "Resources": ["Trainway-dev-0"],
        "EventStatus": "Scheduled",
        "NotBefore": "Mon, 19 Sep 2026 18:29:47 GMT",
        "EventSource": "Platform",
        **changes,
    }
    return json.dumps({"DocumentIncarnation": 2, "Events": [event]})


@dataclass(frozen=True)
class Case:
    """What a service answers by path, and what a machine finds out by that: why and when."""

    name: str
    cloud: str
    answers: Mapping[str, str]
    found: tuple[str, str, bool] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


AWS = {TOKEN: "AQAE=="}
CASES = [
    Case("aws says nothing", "aws", AWS),
    Case("aws terminates", "aws",
         {**AWS, ACTION: '{"action": "terminate", "time": "2026-11-18T08:22:00Z"}'},
         ("instance-action terminate", "2026-11-18T08:22:00Z", True)),
    Case("aws stops, and says no time", "aws", {**AWS, ACTION: '{"action": "stop"}'},
         ("instance-action stop", "", True)),
    Case("aws recommends to leave", "aws",
         {**AWS, REBALANCE: '{"noticeTime": "2026-11-18T08:22:00Z"}'},
         ("AWS says that the machine is at an elevated risk, since 2026-11-18T08:22:00Z", "",
          False)),
    Case("aws gives no token", "aws", {ACTION: '{"action": "terminate"}'}),
    Case("a token with more lines than one", "aws",
         {TOKEN: "a\r\nHost: b", ACTION: '{"action": "terminate"}'}),
    Case("an action that is none", "aws", {**AWS, ACTION: '{"action": ["a\\n"], "time": 7}'},
         ("instance-action unknown", "", True)),
    Case("no JSON", "aws", {**AWS, ACTION: "<html>"}),
    Case("another JSON", "aws", {**AWS, ACTION: "[1]"}),
    Case("google says no", "gcp", {PREEMPTED: "FALSE", MAINTENANCE: "NONE"}, headers=GOOGLE),
    Case("google preempts", "gcp", {PREEMPTED: "TRUE"}, ("preempted", "", True), GOOGLE),
    Case("google ends it for maintenance", "gcp", {PREEMPTED: "FALSE", MAINTENANCE: TERMINATE},
         (f"maintenance-event {TERMINATE}", "", True), GOOGLE),
    Case("google moves it", "gcp", {MAINTENANCE: "MIGRATE_ON_HOST_MAINTENANCE"}, headers=GOOGLE),
    Case("somebody else than google", "gcp", {PREEMPTED: "TRUE"}),
    Case("azure says nothing", "azure", {EVENTS: '{"DocumentIncarnation": 1, "Events": []}'}),
    Case("azure preempts", "azure", {EVENTS: preempt()},
         ("Preempt", "2026-09-19T18:29:47Z", True)),
    Case("azure has begun", "azure", {EVENTS: preempt(NotBefore="")}, ("Preempt", "", True)),
    Case("azure preempts another", "azure", {EVENTS: preempt(Resources=["trainway-dev-1"])}),
    Case("azure reboots", "azure", {EVENTS: preempt(EventType="Reboot")}),
    Case("azure is being switched on", "azure", {}),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_a_machine_finds_out(case: Case) -> None:
    found = ask(case)
    told = None if found is None else (found.why, found.at, found.is_certain)
    assert told == case.found


def ask(case: Case) -> Finding | None:
    inquiry = SOURCES[case.cloud]("trainway-dev-0")
    answer: Answer | None = None
    while True:
        try:
            question = inquiry.send(answer)
        except StopIteration as end:
            found: Finding | None = end.value
            return found
        if case.cloud == "aws":
            wants_token = question.path != TOKEN
            assert ("X-aws-ec2-metadata-token" in question.headers) is wants_token
            assert question.method == ("GET" if wants_token else "PUT")
        body = case.answers.get(question.path)
        answer = Answer(404, case.headers, "") if body is None else Answer(200, case.headers, body)


@pytest.mark.parametrize("cloud", sorted(SOURCES))
def test_a_service_that_never_answers_has_said_nothing(cloud: str) -> None:
    inquiry = SOURCES[cloud]("m")
    next(inquiry)
    found = None
    try:
        while True:
            inquiry.send(None)
    except StopIteration as end:
        found = end.value
    assert found is None
