import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from trainway.engine.nodes.failures import NodeFailure, failures_by_node, tally, why_set_aside
from trainway.engine.record import JobRecord
from trainway.engine.recovery.cause import Cause
from trainway.engine.times import time_text
from trainway.json_types import Json

NOW = datetime(2026, 11, 15, 5, tzinfo=UTC)


def ago(minutes: float) -> str:
    return time_text(NOW - timedelta(minutes=minutes))


def record(id_: str, *endings: Json) -> JobRecord:
    made = JobRecord(id=id_, name="n", namespace="d", kind="TrainJob", backend="ssh/lab")
    return made.with_columns({"observed": {"endings": list(endings)}})


def ending(attempt: int, host: str, minutes: float, **more: object) -> Json:
    return {"pod": "node-0-0", "attempt": attempt, "host": host, "time": ago(minutes), **more}


def test_the_failures_of_each_node_oldest_first() -> None:
    records = [
        record("b", ending(0, "h1", 5, exitCode=3)),
        record(
            "a",
            ending(0, "h1", 20, reason="HostLost", cause="NodeLost"),
            ending(1, "h2", 10, exitCode=1),
            ending(2, "h1", 60 * 25, exitCode=1),
            {"attempt": 3, "reason": "HostLost", "time": ago(1)},
        ),
        record("c"),
    ]
    found = failures_by_node(records, "ssh/lab", NOW)
    told = {node: [(each.job, each.cause) for each in found[node]] for node in sorted(found)}
    assert told == {
        "h1": [("a", Cause.NODE_LOST), ("b", Cause.EXIT_CODE)],
        "h2": [("a", Cause.EXIT_CODE)],
    }
    assert tally(found["h1"]) == {"NodeLost": 1, "ExitCode": 1}


def test_what_failed_on_the_only_node_failed_there() -> None:
    local = {"pod": "node-0-0", "attempt": 0, "exitCode": 7, "time": ago(1)}
    assert list(failures_by_node([record("a", local)], "ssh/lab", NOW, "here")) == ["here"]
    assert failures_by_node([record("a", local)], "ssh/lab", NOW) == {}


@dataclass(frozen=True)
class Case:
    id: str
    minutes: tuple[float, ...]
    cause: Cause | None
    why: str


CASES = [
    Case("none", (), Cause.NODE_LOST, ""),
    Case("twice", (5, 10), Cause.NODE_LOST, ""),
    Case("thrice", (50, 30, 5), Cause.NODE_LOST,
         f"it lost 3 attempts of 3 jobs within an hour, the last one at {ago(5)}"),
    Case("thrice in two hours", (70, 30, 5), Cause.NODE_LOST, ""),
    Case("thrice by itself", (50, 30, 5), Cause.EXIT_CODE, ""),
    Case("thrice by an agent", (50, 30, 5), Cause.AGENT_LOST, ""),
    Case("nobody knows", (50, 30, 5), None, ""),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_why_a_node_is_set_aside(case: Case) -> None:
    failures = [
        NodeFailure(f"j{number}", 0, ago(minutes), case.cause, "")
        for number, minutes in enumerate(case.minutes)
    ]
    assert why_set_aside(failures, NOW) == case.why


def test_failures_belong_to_the_place_where_they_were() -> None:
    gone = record("a", ending(0, "h1", 5, place="ssh/lab"), ending(1, "h1", 4))
    gone = gone.with_columns({"backend": "ssh/other"})
    places = [{"backend": "ssh/lab", "objects": []}]
    past = [ending(0, "h1", 3, place="ssh/lab/rack"), ending(1, "h1", 2, place="ssh/laboratory")]
    kept = {"strategy": "failover", "places": places, "wait_s": 1, "avoided": {}, "since": ""}
    anew = record("b").with_columns({"recovery": json.dumps({**kept, "past": past})})
    jobs = [gone, anew, gone]
    at = {
        name: failures_by_node(jobs, name, NOW).get("h1", []) for name in ("ssh/lab", "ssh/other")
    }
    told = {name: [(each.job, each.attempt) for each in found] for name, found in at.items()}
    assert told == {"ssh/lab": [("a", 0), ("b", 0)], "ssh/other": [("a", 1)]}
