from dataclasses import dataclass, field

import pytest

from trainway.agent.controllers.jobset_rules import (
    NO_COUNTS,
    dependencies_met,
    first_failed,
    has_started,
    has_succeeded,
    matching,
    with_job,
)
from trainway.json_types import Json

REPLICAS = {"data": 1, "node": 2}


@dataclass(frozen=True)
class Dependency:
    name: str
    status: str
    counts: Json
    is_met: bool
    of: str = "node"


@pytest.mark.parametrize(
    "case",
    [
        Dependency("ready", "Ready", {"ready": 2}, True),
        Dependency("not all are ready", "Ready", {"ready": 1}, False),
        Dependency("who is over was ready", "Ready", {"ready": 1, "succeeded": 1}, True),
        Dependency("also with a failure", "Ready", {"ready": 1, "failed": 1}, True),
        Dependency("complete", "Complete", {"succeeded": 2}, True),
        Dependency("ready is not complete", "Complete", {"ready": 1, "succeeded": 1}, False),
        Dependency("a role that there is not", "Ready", {}, False, of="other"),
    ],
    ids=lambda case: case.name,
)
def test_dependencies(case: Dependency) -> None:
    counts = {"node": NO_COUNTS | case.counts}
    depends_on = [{"name": case.of, "status": case.status}]
    assert dependencies_met(depends_on, counts, REPLICAS) == case.is_met
    assert dependencies_met([], counts, REPLICAS)


def test_a_role_has_started_when_all_of_it_is_ready_or_over() -> None:
    assert has_started(NO_COUNTS | {"ready": 1, "failed": 1}, 2)
    assert not has_started(NO_COUNTS | {"active": 2}, 2)
    assert has_started(NO_COUNTS, 0)


@dataclass(frozen=True)
class Success:
    name: str
    policy: Json
    complete: list[str]
    is_success: bool


@pytest.mark.parametrize(
    "case",
    [
        Success("all", {}, ["data", "node", "node"], True),
        Success("not all", {}, ["node", "node"], False),
        Success("any", {"operator": "Any"}, ["node"], True),
        Success("nobody", {"operator": "Any"}, [], False),
        Success("all of a target", {"targetReplicatedJobs": ["node"]}, ["node", "node"], True),
        Success("others do not count", {"targetReplicatedJobs": ["node"]}, ["data"], False),
        Success(
            "any of a target",
            {"operator": "Any", "targetReplicatedJobs": ["node"]},
            ["data", "node"],
            True,
        ),
    ],
    ids=lambda case: case.name,
)
def test_success(case: Success) -> None:
    assert has_succeeded(case.policy, REPLICAS, case.complete) == case.is_success


@dataclass(frozen=True)
class Failed:
    name: str
    role: str = "node"
    failure: Json = field(default_factory=dict)


EARLY = Failed("early", "data", {"lastTransitionTime": "1", "reason": "A", "message": "exit 1"})
LATE = Failed("late", "node", {"lastTransitionTime": "2", "reason": "B", "message": "exit 2"})


@dataclass(frozen=True)
class Match:
    name: str
    rules: list[Json]
    rule: int | None
    job: Failed


@pytest.mark.parametrize(
    "case",
    [
        Match("no rule", [], None, EARLY),
        Match("reason", [{"onJobFailureReasons": ["B"]}], 0, LATE),
        Match("message", [{"onJobFailureMessagePatterns": ["exit [2-9]"]}], 0, LATE),
        Match("target", [{"targetReplicatedJobs": ["node"]}], 0, LATE),
        Match("all must match", [{"onJobFailureReasons": ["B"], "targetReplicatedJobs": ["data"]}],
              None, EARLY),
        Match("a broken pattern", [{"onJobFailureMessagePatterns": ["("]}], None, EARLY),
        Match("the first rule, then the first Job", [{"onJobFailureReasons": ["C"]}, {}], 1, EARLY),
    ],
    ids=lambda case: case.name,
)  # fmt: skip
def test_rules(case: Match) -> None:
    rule, job = matching(case.rules, [LATE, EARLY])
    assert job is case.job
    assert rule == ({} if case.rule is None else case.rules[case.rule])


def test_who_is_to_blame() -> None:
    assert first_failed([LATE, EARLY]) is EARLY
    assert with_job("jobset failed", EARLY) == "jobset failed (first failed job: early)"
