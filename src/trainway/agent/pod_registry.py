"""The pods of each Job: made when the Job controller asks for them, dropped when they are counted.

A pod waits to be started while another of the same name has not ended: on a cluster they could run
side by side, but here they would share devices and log files.
"""

from __future__ import annotations

import os

from trainway.agent.pod import Pod
from trainway.agent.pod_identity import PodIdentity
from trainway.agent.recovery import LostPod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.job import Job
    from trainway.agent.node import Node
    from trainway.agent.pod_status import PodStatus


class PodRegistry:
    """All pods that have not been counted yet."""

    def __init__(self, node: Node, on_change: Callable[[Pod], object]) -> None:
        self._node = node
        self._on_change = on_change
        self._pods: dict[str, list[Pod]] = {}
        self._lost: dict[str, list[LostPod]] = {}
        self._waiting: list[Pod] = []

    def add_lost(self, job: str, pods: list[LostPod]) -> None:
        """Take in pods of an agent that died."""
        self._lost[job] = pods

    def of(self, job: str) -> list[Pod]:
        """The pods of a Job."""
        return self._pods.get(job, [])

    def live(self) -> list[Pod]:
        """All pods that have not ended."""
        return [pod for pods in self._pods.values() for pod in pods if not pod.terminal]

    def statuses(self, job: str) -> list[PodStatus]:
        """The pods of a Job as its controller sees them."""
        return [pod.status() for pod in (*self._lost.get(job, ()), *self.of(job))]

    def create(self, job: Job, index: int | None) -> Pod:
        """Make a pod; `start_waiting` starts it."""
        pods = self._pods.setdefault(job.name, [])
        slot = index if index is not None else _free_slot(pods)
        failures = job.index_failures.get(slot)
        identity = PodIdentity(
            self._node.plan,
            self._node.plan.role(job.role),
            job_index=job.index,
            slot=slot,
            uid=_new_uid(),
            attempt=job.attempt,
            job_attempt=job.job_attempt,
            failures=0 if failures is None else failures.counted,
        )
        pod = Pod(identity, self._node, self._on_change)
        pods.append(pod)
        self._waiting.append(pod)
        return pod

    def start_waiting(self) -> None:
        """Start pods whose place is free."""
        waiting, self._waiting = self._waiting, []
        for pod in waiting:
            rivals = [item for item in self.of(pod.identity.job_name) if item is not pod]
            taken = any(
                item.identity.key == pod.identity.key
                and not item.terminal
                and item not in self._waiting
                for item in rivals
            )
            if taken and not pod.deleted:
                self._waiting.append(pod)
            else:
                pod.start()

    def delete(self, job: str, uids: list[str]) -> None:
        """Stop pods of a Job."""
        for pod in self.of(job):
            if pod.identity.uid in uids:
                pod.delete()

    def forget_counted(self, job: Job) -> None:
        """Drop the pods that ended and are in the Job's counters."""
        self._lost.pop(job.name, None)
        over = [pod for pod in self.of(job.name) if pod.terminal]
        if not job.deleting and not job.finished:
            over = [pod for pod in over if pod.identity.uid in job.counted]
        if over:
            self._pods[job.name] = [pod for pod in self.of(job.name) if pod not in over]
        left = {pod.identity.uid for pod in self.of(job.name)}
        job.counted &= left


def _free_slot(pods: list[Pod]) -> int:
    taken = {pod.identity.slot for pod in pods if not pod.terminal}
    return next(slot for slot in range(len(taken) + 1) if slot not in taken)


def _new_uid() -> str:
    """A random uid in the form of a version 4 UUID, without importing uuid."""
    data = bytearray(os.urandom(16))
    data[6] = data[6] & 0x0F | 0x40
    data[8] = data[8] & 0x3F | 0x80
    text = data.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
