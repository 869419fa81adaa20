"""What Trainway tells every process of a job about it: one table for all backends.

On machines the agent knows the values. In a pod of Kubernetes those that differ from pod to pod are
read from the pod's own labels and annotations, which JobSet and the Job controller write.
"""

from __future__ import annotations

from trainway.agent.base import labels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.base.pod_identity import PodIdentity

JOB_ID = "TRAINWAY_JOB_ID"
JOB_NAME = "TRAINWAY_JOB_NAME"
ROLE = "TRAINWAY_ROLE"
RANK = "TRAINWAY_RANK"
RESTART_ATTEMPT = "TRAINWAY_RESTART_ATTEMPT"
OUTPUT_DIR = "TRAINWAY_OUTPUT_DIR"

DEFAULTS = {"PYTHONUNBUFFERED": "1"}
"""What a process finds unless somebody says otherwise: with this one, logs come at once."""


class Variable:
    """One of them: what it tells, and where that comes from."""

    def __init__(
        self, name: str, meaning: str, value: Callable[[PodIdentity, str], str], field: str = ""
    ) -> None:
        self.name = name
        self.meaning = meaning
        """The meaning, as the documentation has it."""
        self.value = value
        """What makes the value, from a pod and the job's output directory, on a machine."""
        self.field = field
        """Where a pod of Kubernetes reads it; empty: it is the same in all pods of a job."""


VARIABLES = (
    Variable(JOB_ID, "the id of the job", lambda pod, _: pod.plan.id),
    Variable(JOB_NAME, "the name of the job", lambda pod, _: pod.plan.job_name),
    Variable(
        ROLE,
        "the replicated job that this node belongs to: `node`, `launcher`, `worker`",
        lambda pod, _: pod.role.name,
        f"metadata.labels['{labels.REPLICATED_JOB_NAME}']",
    ),
    Variable(
        RANK,
        "the number of this node in its Job, from 0",
        lambda pod, _: str(pod.slot),
        f"metadata.annotations['{labels.COMPLETION_INDEX}']",
    ),
    Variable(
        RESTART_ATTEMPT,
        "0, and one more after each restart of the gang",
        lambda pod, _: str(pod.attempt),
        f"metadata.labels['{labels.RESTART_ATTEMPT}']",
    ),
    Variable(OUTPUT_DIR, "a directory for what the job produces", lambda _, output: output),
)


def about_pod(pod: PodIdentity, output: str) -> dict[str, str]:
    """The table for one pod of a machine."""
    return {variable.name: variable.value(pod, output) for variable in VARIABLES}
