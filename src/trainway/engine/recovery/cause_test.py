from dataclasses import dataclass

import pytest

from trainway.engine.recovery.cause import RULES, Cause, cause_of, cause_of_end, metric_label
from trainway.json_types import Json


@dataclass(frozen=True)
class Case:
    id: str
    culprit: Json
    cause: Cause | None


CASES = [
    Case("nobody", {}, None),
    Case("exit code", {"exitCode": 3}, Cause.EXIT_CODE),
    Case("initializer", {"exitCode": 2, "reason": "InitContainerFailed"}, Cause.EXIT_CODE),
    Case("sick node", {"reason": "HealthCheckFailed"}, Cause.NODE_LOST),
    Case("sick peer", {"reason": "PeerUnhealthy"}, Cause.REFUSED),
    Case("signal", {"exitCode": 137}, Cause.EXIT_CODE),
    Case("memory", {"outOfMemory": True, "reason": "OOMKilled"}, Cause.OUT_OF_MEMORY),
    Case("hang", {"exitCode": 1, "hung": True}, Cause.HANG),
    Case("no such program", {"exitCode": 127, "notStarted": True}, Cause.REFUSED),
    Case("no step", {"reason": "FailedCreate"}, Cause.REFUSED),
    Case("host of a pool", {"exitCode": 137, "reason": "HostLost"}, Cause.NODE_LOST),
    Case("host that was cut off", {"exitCode": 137, "reason": "Fenced"}, Cause.NODE_LOST),
    Case("node of Kubernetes", {"reason": "NodeLost"}, Cause.NODE_LOST),
    Case("eviction", {"reason": "EvictionByEvictionAPI"}, Cause.NODE_LOST),
    Case("preemption", {"reason": "PreemptionByScheduler"}, Cause.PREEMPTED),
    Case("agent", {"exitCode": 137, "reason": "AgentLost"}, Cause.AGENT_LOST),
    Case("deadline of a pod", {"reason": "DeadlineExceeded"}, Cause.TIMEOUT),
    Case("a word that is new to us", {"reason": "StruckByLightning"}, Cause.NODE_LOST),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_cause_of_an_attempt(case: Case) -> None:
    assert cause_of(case.culprit) is case.cause


@dataclass(frozen=True)
class EndCase:
    reason: str
    cause: Cause | None
    culprit: Json


ENDS = [
    EndCase("NodeFail", Cause.NODE_LOST, {}),
    EndCase("Preempted", Cause.PREEMPTED, {"exitCode": 143}),
    EndCase("TimeLimit", Cause.TIMEOUT, {}),
    EndCase("DeadlineExceeded", Cause.TIMEOUT, {"exitCode": 1}),
    EndCase("OutOfMemory", Cause.OUT_OF_MEMORY, {}),
    EndCase("NoResult", Cause.AGENT_LOST, {}),
    EndCase("AgentFailed", Cause.AGENT_LOST, {}),
    EndCase("SubmissionFailed", Cause.REFUSED, {}),
    EndCase("DoesNotFit", Cause.REFUSED, {}),
    EndCase("ReachedMaxRestarts", Cause.EXIT_CODE, {"exitCode": 3}),
    EndCase("FailedJobs", Cause.NODE_LOST, {"reason": "HostLost"}),
    EndCase("FailedJobs", None, {}),
]


@pytest.mark.parametrize("case", ENDS, ids=lambda case: case.reason)
def test_cause_of_an_end(case: EndCase) -> None:
    assert cause_of_end(case.reason, case.culprit) is case.cause


def test_every_cause_has_a_rule_and_a_label() -> None:
    assert set(RULES) == set(Cause)
    assert [cause for cause, rule in RULES.items() if rule.counts and not rule.is_retried] == []
    labels = {metric_label(cause) for cause in (None, *Cause)}
    assert len(labels) == len(Cause) + 1
    assert "out_of_memory" in labels
