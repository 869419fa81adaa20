"""What the controllers of an agent do is what the rules of the causes say."""

from dataclasses import dataclass

import pytest

from trainway.agent.base.plan import Plan
from trainway.agent.base.pod_status import PodStatus
from trainway.agent.base.testing import container, jobset, role
from trainway.agent.controllers.job_controller import sync
from trainway.agent.controllers.jobset import JobSet
from trainway.agent.controllers.jobset_controller import reconcile
from trainway.agent.controllers.jobset_failure_policy import restart_regardless
from trainway.compiler.restarts import failure_policy, pod_failure_policy
from trainway.engine.recovery.cause import RULES, Cause


@dataclass(frozen=True)
class Case:
    cause: Cause
    pod: PodStatus | None
    """How the pod ended; None: its host is lost."""


def failed(code: int = 1, *, disrupted: bool = False) -> PodStatus:
    codes = [] if disrupted else [("main", code)]
    return PodStatus("u", index=0, phase="Failed", exit_codes=codes, disrupted=disrupted)


CASES = [
    Case(Cause.NODE_LOST, None),
    Case(Cause.PREEMPTED, None),
    Case(Cause.EXIT_CODE, failed()),
    Case(Cause.OUT_OF_MEMORY, failed(137)),
    Case(Cause.HANG, failed(143)),
    Case(Cause.REFUSED, failed(127)),
    Case(Cause.AGENT_LOST, failed(disrupted=True)),
]


def after(pod: PodStatus | None, restarts: int) -> JobSet:
    """A JobSet one of whose pods has ended so; after the exit code 33 it restarts however often."""
    node = role("node", container("main", "true"), **pod_failure_policy([33]))
    spec = jobset(node, **failure_policy(restarts, ["node"]))
    ours = JobSet(Plan({"version": 1, "id": "j", "name": "a", "jobset": spec}))
    reconcile(ours, 0.0)
    if pod is None:
        restart_regardless(ours, "HostLost", "host a was lost", 1.0)
    else:
        (job,) = ours.jobs.values()
        sync(job, [pod], 1.0)
    reconcile(ours, 1.0)
    return ours


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.cause.name.lower())
def test_an_agent_follows_the_rule(case: Case) -> None:
    rule = RULES[case.cause]
    ours = after(case.pod, restarts=1)
    assert (ours.restarts == 1) is rule.is_retried
    assert bool(ours.restarts_count_towards_max) is rule.counts
    assert (after(case.pod, restarts=0).terminal_state == "Failed") is rule.counts


def test_every_cause_but_those_that_end_a_job_is_tried() -> None:
    left = {Cause.TIMEOUT, Cause.BUDGET}
    assert set(Cause) - {case.cause for case in CASES} == left
    assert not any(RULES[cause].is_retried for cause in left)


def test_an_exit_code_that_is_named_does_not_count() -> None:
    ours = after(failed(33), restarts=0)
    assert (ours.restarts, ours.restarts_count_towards_max) == (1, 0)
