"""When an elastic Job goes on, and when it cannot: the rules for a gang that may lose nodes. Pure.

A pod that fails or is lost is replaced by itself, after a back-off of its own, while the others go
on. The Job fails when fewer are left than it needs, so that the JobSet begins anew. It also fails
with the pod of index 0, at which the others meet: without it nobody can join again.

Once a pod has succeeded the work is done: nothing is replaced any more, and the Job is complete
when the others have ended too, provided that enough of them succeeded.

A Job may also be told to do with fewer nodes, down to its minimum, and later with more again. The
nodes that it gives up are dismissed: they end with their grace period, which is no failure, and
nothing takes their place.
"""

from __future__ import annotations

from trainway.agent.base.pod_status import PodStatus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from trainway.agent.controllers.job import Job

FIRST = 0
"""The index of the pod at which the others meet."""
TOO_FEW_NODES, RESIZED = "TooFewNodes", "NodesChanged"


def is_ending(job: Job) -> bool:
    """Whether an elastic Job has done its work, and only waits for its last pods."""
    return job.spec.minimum is not None and bool(job.completed)


def collapse(job: Job, pods: Sequence[PodStatus]) -> str:
    """Why an elastic Job cannot go on after what failed now; empty: it can, or it is none."""
    minimum = job.spec.minimum
    failed = [pod.index for pod in pods if pod.phase == "Failed" and not pod.deleted]
    if minimum is None or job.suspend or not failed:
        return ""
    if FIRST in failed and not job.completed:
        return "the node at which the others meet has ended"
    left = len(job.completed) + sum(pod.active and pod.placed for pod in pods)
    if left >= minimum:
        return ""
    return f"{left} of at least {minimum} nodes are left"


def survives(job: Job, pods: Sequence[PodStatus], lost: Collection[str]) -> bool:
    """Whether a Job would go on if the pods with these uids were lost."""
    if job.spec.minimum is None:
        return not any(pod.uid in lost and not pod.terminal for pod in pods)
    return not collapse(job, [_lost(pod) if pod.uid in lost else pod for pod in pods])


def _lost(pod: PodStatus) -> PodStatus:
    phase = pod.phase if pod.terminal else "Failed"
    return PodStatus(pod.uid, index=pod.index, phase=phase, deleted=pod.deleted)


def dismissals(job: Job, most: int | None, unplaced: Collection[int] = ()) -> set[int]:
    """The indexes that an elastic Job does without when it may have so many nodes at most.

    Those without a place go first, and of the others the last. The first node stays always, and
    there are never fewer than the minimum. None: it may have all.
    """
    minimum = job.spec.minimum
    if minimum is None or most is None:
        return set()
    spared = job.dismissed.union(unplaced)
    order = sorted(range(job.spec.completions or 0), key=lambda index: (index in spared, index))
    order.sort(key=lambda index: index != FIRST)
    return set(order[max(most, minimum, 1) :])


def resize(job: Job, pods: Sequence[PodStatus], most: int | None) -> None:
    """Let an elastic Job have so many nodes at most from now on."""
    unplaced = {pod.index for pod in pods if pod.active and not pod.placed and pod.index}
    job.dismissed = dismissals(job, most, unplaced)


def news(job: Job, pods: Sequence[PodStatus]) -> list[tuple[str, str, str]]:
    """What is to be told of the size of an elastic Job, once for each that it comes to."""
    if job.spec.minimum is None or job.suspend or job.completed:
        return []
    here = [pod for pod in pods if pod.active and pod.placed]
    size = len(here)
    if not size or size == job.size_told or any(pod.phase != "Running" for pod in here):
        return []
    grew = size > job.size_told
    job.size_told = size
    kind = "Normal" if grew else "Warning"
    return [(kind, RESIZED, f"runs with {size} of {job.spec.completions} nodes")]
