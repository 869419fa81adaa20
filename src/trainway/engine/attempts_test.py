from dataclasses import dataclass
from typing import Any

import pytest

from trainway.engine.attempts import attempts_view, endings_view, with_ending, with_preemption
from trainway.engine.observation import Observation
from trainway.json_types import Json

RUNS: list[Json] = [
    {"attempt": 0, "start": "2026-11-15T05:00:00Z", "end": "2026-11-15T05:00:10Z"},
    {"attempt": 0, "start": "2026-11-15T05:01:00Z", "end": "2026-11-15T05:01:05Z"},
    {"attempt": 1, "start": "2026-11-15T05:02:00Z"},
]


def pod(name: str, attempt: int, phase: str, **container: Any) -> Json:
    item = {"name": "main", "restarts": 0, "startedAt": "2026-11-15T05:00:00Z", **container}
    return {
        "type": "pod", "pod": name, "attempt": attempt, "phase": phase,
        "time": "2026-11-15T05:00:01Z", "containers": [item],
    }  # fmt: skip


def test_each_attempt_tells_when_it_ran_and_who_ended_it() -> None:
    endings = [{"pod": "node-0-1", "attempt": 0, "exitCode": 137, "outOfMemory": True}]
    columns = {"attempt": 1, "started": "x", "until": "2026-11-15T05:02:30Z"}
    assert attempts_view(columns, RUNS, endings) == [
        {
            "attempt": 0,
            "startTime": "2026-11-15T05:00:00Z",
            "endTime": "2026-11-15T05:01:05Z",
            "seconds": 15.0,
            "isNewest": False,
            "node": "node-1",
            "exitCode": 137,
            "cause": "node-1 was killed by SIGKILL: it ran out of memory",
            "reason": "OutOfMemory",
        },
        {
            "attempt": 1,
            "startTime": "2026-11-15T05:02:00Z",
            "endTime": None,
            "seconds": 30.0,
            "isNewest": True,
            "node": None,
            "exitCode": None,
            "cause": "",
            "reason": None,
        },
    ]
    assert attempts_view({"attempt": 0, "started": "", "until": ""}, [], []) == []


def test_the_ends_of_all_attempts_are_remembered() -> None:
    observation = Observation()
    observation.fold(
        [
            pod("node-0-1", 0, "Failed", exitCode=3),
            pod("node-0-0", 0, "Failed", exitCode=143),
            pod("node-0-0", 1, "Running"),
        ]
    )
    observation = Observation.of(observation.to_dict(), "")
    observation.fold([pod("node-0-0", 1, "Failed", exitCode=5)])
    told = [(each["pod"], each["attempt"], each["exitCode"]) for each in observation.endings]
    assert told == [("node-0-1", 0, 3), ("node-0-0", 1, 5)]


def test_a_container_that_runs_again_has_not_ended_its_attempt() -> None:
    observation = Observation()
    crash = {"exitCode": 1, "restarts": 1}
    observation.fold([pod("node-0-0", 0, "Running", state="waiting", lastState=crash)])
    assert len(observation.endings) == 1
    observation.fold([pod("node-0-0", 0, "Running", state="running", lastState=crash)])
    assert observation.endings == []


def test_only_the_last_ones_are_kept() -> None:
    endings: list[Json] = []
    for attempt in range(200):
        endings = with_ending(endings, attempt, {"pod": "node-0-0", "attempt": attempt})
    assert [each["attempt"] for each in endings] == list(range(150, 200))


def restarted(restarts: int, counted: int, **condition: str) -> Json:
    held = {"type": "RestartingJobSet", "status": "True", **condition}
    jobset = {"restarts": restarts, "restartsCountTowardsMax": counted, "conditions": [held]}
    return {"type": "status", "time": "2026-11-15T05:00:02Z", "jobset": jobset}


def test_the_cause_of_each_attempt_is_stored_and_told() -> None:
    lost = {**pod("node-0-1", 0, "Failed", exitCode=137), "reason": "HostLost", "host": "h1"}
    observation = Observation()
    observation.fold(
        [
            {**lost, "message": "host h1 was lost"},
            pod("node-0-0", 0, "Failed", exitCode=143) | {"deleted": True},
            restarted(1, 0, reason="HostLost", message="host h1 was lost"),
            pod("node-0-0", 1, "Failed", exitCode=5),
            restarted(2, 1, reason="DefaultFailurePolicy", message="applying RestartJobSet"),
            restarted(3, 1, reason="HostLost", message="host h2 was lost"),
        ]
    )
    observation = Observation.of(observation.to_dict(), "")
    told = [
        (each["attempt"], each["reason"], each["node"], each["host"], each["counts"])
        for each in endings_view(observation.endings)
    ]
    assert told == [
        (0, "NodeLost", "node-1", "h1", False),
        (1, "ExitCode", "node-0", None, True),
        (2, "NodeLost", None, None, False),
    ]


def test_a_restart_is_an_event_with_its_cause() -> None:
    observation = Observation()
    observation.fold([pod("node-0-0", 0, "Failed", exitCode=5), restarted(1, 1)])
    observation.fold([restarted(1, 1), restarted(2, 1, reason="NewToUs", message="it was so")])
    assert [(event.reason, event.message) for event in observation.events] == [
        ("ExitCode", "attempt 1 ended: node-0 exited with 5"),
        ("Restarted", "attempt 2 ended: it was so; the restart does not count"),
    ]


def test_pods_that_end_after_the_restart_change_neither_its_time_nor_whether_it_counts() -> None:
    lost = pod("node-0-1", 0, "Failed", exitCode=137) | {"reason": "HostLost", "host": "h1"}
    observation = Observation()
    observation.fold([restarted(1, 0, reason="HostLost", message="host h1 was lost")])
    observation.fold([pod("node-0-0", 0, "Failed", exitCode=143) | {"deleted": True}])
    assert len(observation.endings) == 1
    observation.fold([lost])
    (ending,) = endings_view(observation.endings)
    assert (ending["host"], ending["counts"], ending["time"]) == (
        "h1",
        False,
        "2026-11-15T05:00:02Z",
    )


@dataclass(frozen=True)
class Preempted:
    what: str
    endings: list[Json]
    attempt: int
    expected: list[tuple[int, str]]
    """The attempts and their causes."""
    hosts: tuple[str, ...] = ("p-2-0", "p-2-1")


HOST = {"pod": "node-0-1", "reason": "HostLost", "host": "p-1-1", "cause": "NodeLost"}
EXIT = {"pod": "node-0-1", "exitCode": 1, "cause": "ExitCode", "counts": True}
PREEMPTED = [
    Preempted("nobody has noticed it", [], 1, [(1, "Preempted")]),
    Preempted("its host was lost", [{"attempt": 1, **HOST}], 1, [(1, "Preempted")]),
    Preempted("and the next attempt waits", [{"attempt": 1, **HOST}], 2, [(1, "Preempted")]),
    Preempted("and the next attempt began beside it", [{"attempt": 0, **HOST}], 1,
              [(0, "Preempted")], hosts=("p-1-0", "p-1-2")),
    Preempted("another host was lost before", [{"attempt": 0, **HOST}], 1,
              [(0, "NodeLost"), (1, "Preempted")]),
    Preempted("its program failed", [{"attempt": 1, **EXIT}], 1, [(1, "ExitCode")]),
]  # fmt: skip


@pytest.mark.parametrize("case", PREEMPTED, ids=lambda case: case.what)
def test_an_attempt_whose_machines_a_cloud_took_is_preempted(case: Preempted) -> None:
    why = {"message": "aws takes back i-1", "time": "2026-11-15T05:03:00Z"}
    found = with_preemption(case.endings, case.attempt, RUNS, case.hosts, why)
    assert [(each["attempt"], each["reason"]) for each in endings_view(found)] == case.expected
    assert found[-1]["counts"] is False
