from dataclasses import dataclass

import pytest

from trainway.agent.base.plan import Plan
from trainway.agent.base.testing import container, jobset, role
from trainway.agent.controllers.jobset import JobSet
from trainway.agent.controllers.jobset_controller import reconcile
from trainway.agent.controllers.jobset_failure_policy import restart_regardless
from trainway.agent.controllers.restart_backoff import RestartBackoff, pause


@dataclass(frozen=True)
class Case:
    soon: int
    chance: float
    seconds: float


CASES = [
    Case(0, 0.9, 0),
    Case(1, 0.9, 0),
    Case(2, 0.9, 0),
    Case(3, 0, 1),
    Case(3, 1, 1.5),
    Case(4, 0, 2),
    Case(5, 0.5, 5),
    Case(9, 0, 60),
    Case(10_000, 1, 90),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_pause(case: Case) -> None:
    assert pause(case.soon, case.chance) == case.seconds


def test_an_attempt_that_lasted_begins_the_count_anew() -> None:
    backoff = RestartBackoff()
    pauses, now = [], 0.0
    for seconds in (1, 1, 1, 1, 59, 60, 1, 1):
        backoff.began(now)
        now += seconds
        pauses.append(backoff.ended(now, 0))
        now += pauses[-1]
    assert pauses == [0, 0, 1, 2, 4, 0, 0, 1]


def restarting() -> JobSet:
    spec = jobset(role("node", container("main", "true")))
    held = JobSet(Plan({"version": 1, "id": "j", "name": "a", "jobset": spec}))
    held.chance = lambda: 0.0
    reconcile(held, 0.0)
    return held


def lose(held: JobSet, now: float) -> None:
    """Its host is lost, and its pods are gone."""
    restart_regardless(held, "HostLost", "host a was lost", now)
    held.jobs.clear()
    reconcile(held, now)


def test_no_job_is_made_before_its_pause_is_over() -> None:
    held = restarting()
    lose(held, 1.0)
    assert list(held.jobs) == ["trial-node-0"]
    lose(held, 2.0)
    assert list(held.jobs) == ["trial-node-0"]
    lose(held, 3.0)
    assert (held.restarts, held.restarts_count_towards_max) == (3, 0)
    assert held.jobs == {}
    assert held.backoff.until == 4.0
    assert ("Normal", "BackOff", "the next attempt begins in 1 s") in held.events
    reconcile(held, 3.9)
    assert held.jobs == {}
    reconcile(held, 4.0)
    assert list(held.jobs) == ["trial-node-0"]


def test_a_job_that_is_suspended_in_its_pause_is_suspended() -> None:
    held = restarting()
    for now in (1.0, 2.0, 3.0):
        lose(held, now)
    held.suspend = True
    reconcile(held, 3.5)
    assert held.is_true("Suspended")
    held.suspend = False
    reconcile(held, 5.0)
    assert not held.is_true("Suspended")
    assert not held.jobs["trial-node-0"].suspend
