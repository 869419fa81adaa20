"""Why an attempt of a job ended, in one of nine words, and what follows from each. Pure.

This is the one place that knows. The store keeps the word with each attempt, and the command line,
the API, events and metrics show it. Who restarts a job is its backend; `RULES` says what that comes
to, and a test holds the controllers of the agents against it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from trainway.json_types import Json


class Cause(StrEnum):
    """What ended an attempt."""

    PREEMPTED = "Preempted"
    """A scheduler took its place for somebody else, or a cloud its spot machines."""
    NODE_LOST = "NodeLost"
    """A host or node was lost, or took the pod away."""
    OUT_OF_MEMORY = "OutOfMemory"
    EXIT_CODE = "ExitCode"
    """The program ended by itself, or was killed by a signal that nobody of ours sent."""
    TIMEOUT = "Timeout"
    """The job, or its allocation, took longer than it may."""
    HANG = "Hang"
    """It was silent for longer than --hang-timeout."""
    REFUSED = "Refused"
    """Nothing of it could be started: no such program or image, no such place, no room ever."""
    AGENT_LOST = "AgentLost"
    """The process of Trainway that ran it died, or failed itself."""
    BUDGET = "Budget"
    """No money was left for it."""


@dataclass(frozen=True)
class Rule:
    """What follows from a cause."""

    is_retried: bool
    """Whether the job may start again by itself."""
    counts: bool
    """Whether such a restart counts against the number of restarts that the job may have."""
    blames_node: bool = False
    """Whether the node is to blame, so that it is set aside when that happens again and again."""


RULES: Final[Mapping[Cause, Rule]] = {
    Cause.PREEMPTED: Rule(is_retried=True, counts=False),
    Cause.NODE_LOST: Rule(is_retried=True, counts=False, blames_node=True),
    Cause.OUT_OF_MEMORY: Rule(is_retried=True, counts=True),
    Cause.EXIT_CODE: Rule(is_retried=True, counts=True),
    Cause.TIMEOUT: Rule(is_retried=False, counts=False),
    Cause.HANG: Rule(is_retried=True, counts=True),
    Cause.REFUSED: Rule(is_retried=True, counts=True),
    Cause.AGENT_LOST: Rule(is_retried=True, counts=True),
    Cause.BUDGET: Rule(is_retried=False, counts=False),
}
"""An exit code of `recover_on_exit_codes` never counts, whatever the rule of its cause says. A lost
agent counts, since it may be the job that kills it: one that takes all memory would never end. The
agent of an SSH host is a part of the host, and does not count when it is lost."""

_C = Cause
_REASONS: Final[Mapping[str, Cause]] = {
    **dict.fromkeys(("PreemptionByScheduler", "Preempting", "Preempted"), _C.PREEMPTED),
    **dict.fromkeys(("DeadlineExceeded", "TimeLimit", "Deadline"), _C.TIMEOUT),
    "BudgetExceeded": _C.BUDGET,
    **dict.fromkeys(("OOMKilled", "OutOfMemory"), _C.OUT_OF_MEMORY),
    **dict.fromkeys(("AgentLost", "AgentError", "AgentFailed", "NoResult", "Lost"), _C.AGENT_LOST),
    **dict.fromkeys(("FailedCreate", "StartError", "ContainerCannotRun", "DoesNotFit",
                     "HostUnusable", "FilesNotSent", "SubmissionFailed", "UnexpectedAdmissionError",
                     "ErrImagePull", "ImagePullBackOff", "InvalidImageName",
                     "CreateContainerConfigError", "EnvironmentFailed", "PeerUnhealthy"),
                    _C.REFUSED),
    **dict.fromkeys(("HostLost", "Fenced", "AllocationLost", "NodeFail", "NodeLost", "BootFail",
                     "Evicted", "NodeAffinity", "NodeShutdown", "Terminated",
                     "HealthCheckFailed"), _C.NODE_LOST),
    **dict.fromkeys(("BatchFailed", "InitContainerFailed"), _C.EXIT_CODE),
}  # fmt: skip
"""The reasons that agents, Slurm and Kubernetes give, in the words of their records."""


def cause_of(culprit: Json) -> Cause | None:
    """The cause, by who failed first as `engine/failure.py` has it; None: nobody knows."""
    reason = str(culprit.get("reason") or "")
    rules = (
        (culprit.get("hung"), Cause.HANG),
        (culprit.get("outOfMemory"), Cause.OUT_OF_MEMORY),
        (culprit.get("notStarted"), Cause.REFUSED),
        (reason, _REASONS.get(reason, Cause.NODE_LOST)),  # only what is outside a pod says a reason
        (culprit.get("exitCode"), Cause.EXIT_CODE),
    )
    return next((cause for holds, cause in rules if holds), None)


def cause_of_end(reason: str, culprit: Json) -> Cause | None:
    """The cause by which a whole job has failed: its own reason, if that says more than a node."""
    return _REASONS.get(reason) or cause_of(culprit)


def metric_label(cause: Cause | None) -> str:
    """The cause as metrics have it: `out_of_memory`; `unknown`, where nobody knows."""
    return "unknown" if cause is None else cause.name.lower()
