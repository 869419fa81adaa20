"""Which changes of a job are told."""

from dataclasses import dataclass, replace

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
