"""Which changes of a job are told."""

import json
from dataclasses import dataclass, replace
from typing import Any

import pytest

from trainway.engine.notify.occasions import notice_of, occasions
from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord
from trainway.notify.targets import Occasion

_P, _O = Phase, Occasion
THEN = "2026-11-15T05:00:00.000000Z"


def record(phase: Phase, *, started: bool = True, restarts: int = 0) -> JobRecord:
    return JobRecord(
        id="34zveh7qtspv",
        name="train",
        namespace="default",
        kind="JobSet",
        backend="local",
        phase=phase,
        message="it broke",
        started=THEN if started else "",
        restarts=restarts,
    )


@dataclass(frozen=True)
class Case:
    before: Phase
    after: JobRecord
    told: list[Occasion]


@pytest.mark.parametrize(
    "case",
    [
        Case(_P.PENDING, record(_P.STARTING, started=False), []),
        Case(_P.STARTING, record(_P.RUNNING), [_O.STARTED]),
        Case(_P.RUNNING, record(_P.RUNNING), []),
        Case(_P.RUNNING, record(_P.RESTARTING, restarts=1), []),
        Case(_P.RESTARTING, record(_P.RUNNING, restarts=1), [_O.RECOVERED]),
        Case(_P.RESTARTING, record(_P.RUNNING), [_O.RECOVERED]),
        Case(_P.PAUSED, record(_P.RUNNING), []),
        Case(_P.RUNNING, record(_P.SUCCEEDED), [_O.SUCCEEDED]),
        Case(_P.STARTING, record(_P.SUCCEEDED), [_O.STARTED, _O.SUCCEEDED]),
        Case(_P.STARTING, record(_P.FAILED, started=False), [_O.FAILED]),
        Case(_P.STOPPING, record(_P.CANCELLED), []),
        Case(_P.QUEUED, record(_P.RUNNING), [_O.STARTED]),
    ],
    ids=lambda case: f"{case.before}-{case.after.phase}",
)
def test_what_is_told(case: Case) -> None:
    assert occasions(record(case.before), case.after) == case.told


def test_a_gpu_that_becomes_idle_is_told_once() -> None:
    idle = replace(record(_P.RUNNING), observed='{"idleGpu": "GPU 0 has been idle"}')
    assert occasions(record(_P.RUNNING), idle) == [_O.IDLE_GPU]
    assert occasions(idle, idle) == []
    assert occasions(idle, record(_P.RUNNING)) == []
    text = notice_of(idle, _O.IDLE_GPU, THEN).text
    assert text == "train leaves a GPU idle on local: GPU 0 has been idle"


def hung(phase: Phase, attempt: int = 0, **culprit: Any) -> JobRecord:
    """A job whose node-1 was ended in its first attempt."""
    hang = {"pod": "node-0-1", "attempt": 0, "message": "m", "node": "node-1", "since": THEN}
    blame = {"pod": "node-0-1", "attempt": 0, "hung": True, **culprit}
    observed = json.dumps({"hang": hang, "culprit": blame})
    return replace(record(phase, restarts=attempt), attempt=attempt, observed=observed)


@dataclass(frozen=True)
class Hang:
    name: str
    before: JobRecord
    after: JobRecord
    is_told: bool
    outcome: str = ""


@pytest.mark.parametrize(
    "case",
    [
        Hang("not decided", record(_P.RUNNING), hung(_P.RUNNING), is_told=False),
        Hang(
            "restarting",
            hung(_P.RUNNING),
            hung(_P.RESTARTING),
            is_told=True,
            outcome="was restarted",
        ),
        Hang("told once", hung(_P.RESTARTING), hung(_P.RUNNING, 1), is_told=False),
        Hang(
            "restarted before it was seen",
            hung(_P.RUNNING),
            hung(_P.RUNNING, 1),
            is_told=True,
            outcome="was restarted",
        ),
        Hang(
            "in its pod",
            hung(_P.RUNNING),
            hung(_P.RUNNING, restarts=1),
            is_told=True,
            outcome="was restarted",
        ),
        Hang("failed", hung(_P.RUNNING), hung(_P.FAILED), is_told=True, outcome="failed"),
        Hang("failed at once", record(_P.RUNNING), hung(_P.FAILED), is_told=True, outcome="failed"),
        Hang("cancelled", hung(_P.RUNNING), hung(_P.CANCELLED), is_told=False),
        Hang(
            "another was to blame",
            hung(_P.RUNNING),
            hung(_P.FAILED, hung=False),
            is_told=False,
        ),
    ],
    ids=lambda case: case.name,
)
def test_a_hang_is_told_once_it_is_clear_what_follows(case: Hang) -> None:
    assert (_O.HUNG in occasions(case.before, case.after)) == case.is_told
    if case.is_told:
        notice = notice_of(case.after, _O.HUNG, THEN)
        wanted = {"node": "node-1", "since": THEN, "outcome": case.outcome}
        assert notice.job["hang"] == wanted
        assert notice.text == (
            f"train hung on local and {case.outcome}: node-1, silent since {THEN}: m"
        )


def test_a_notice_has_what_one_needs() -> None:
    notice = notice_of(record(_P.FAILED), _O.FAILED, THEN)
    assert (notice.event, notice.detail, notice.time) == ("failed", "it broke", THEN)
    assert notice.job == {
        "id": "34zveh7qtspv",
        "name": "train",
        "namespace": "default",
        "backend": "local",
        "labels": {},
        "phase": "Failed",
        "reason": "",
        "message": "it broke",
        "startTime": THEN,
        "completionTime": None,
        "restarts": 0,
        "exitCode": None,
    }
