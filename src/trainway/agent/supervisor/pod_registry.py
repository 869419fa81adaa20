"""The pods of each Job: made when the Job controller asks for them, dropped when they are counted.

Where they run is for a `Workplace` to know.

A pod waits to be started while another of the same name has not ended: on a cluster they could run
side by side, but here they would share devices and log files.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod

from trainway.agent.base.pod_identity import PodIdentity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol

    from trainway.agent.base.plan import Plan
    from trainway.agent.base.pod_status import PodStatus
    from trainway.agent.controllers.job import Job
    from trainway.agent.supervisor.recovery import LostPod
    from trainway.json_types import Json

    class AnyPod(Protocol):
        """A pod, wherever it runs."""

        identity: PodIdentity
        deleted: bool

        @property
        def terminal(self) -> bool:
            """Whether it ended."""

        def status(self) -> PodStatus:
            """The pod as the Job controller sees it."""

        def record(self) -> Json:
            """The pod as the journal has it."""

        def start(self) -> None:
            """Start it, now that its turn has come."""

        def delete(self) -> None:
            """Stop it, with its grace period."""

        def kill(self) -> None:
            """Stop it without waiting for anything."""

        def interrupt(self, reason: str) -> None:
            """Stop it for a reason that is not its own."""


class Workplace(ABC):
    """Where the pods of a job run, as far as its supervisor knows it."""

    has_other_nodes = False
    """Whether somebody else finds another node for a pod whose own fails its health check."""

    @abstractmethod
    def make(self, identity: PodIdentity, on_change: Callable[[AnyPod], object]) -> AnyPod:
        """A pod that is still to be started."""

    @abstractmethod
    def recover(self, pods: PodRegistry, job: Job, records: Sequence[Json], now: float) -> None:
        """Take in the pods of a Job that an earlier agent left, by their last records."""

    @abstractmethod
    def clear(self, done: Callable[[], object]) -> None:
        """Call back when nothing that can have come from the job is left."""

    @abstractmethod
    def abandon(self) -> None:
        """Let nothing of the job run on, without waiting for it."""


class PodRegistry:
    """All pods that have not been counted yet."""

    def __init__(
        self, plan: Plan, workplace: Workplace, on_change: Callable[[AnyPod], object]
    ) -> None:
        self._plan = plan
        self._workplace = workplace
        self._on_change = on_change
        self._pods: dict[str, list[AnyPod]] = {}
        self._lost: dict[str, list[LostPod]] = {}
        self._waiting: list[AnyPod] = []

    def add_lost(self, job: str, pods: list[LostPod]) -> None:
        """Take in pods of an agent that died."""
        self._lost[job] = pods

    def adopt(self, job: Job, slot: int, uid: str) -> AnyPod:
        """Take in a pod that was started before and may still run."""
        pod = self._workplace.make(self._identity(job, slot, uid), self._on_change)
        self._pods.setdefault(job.name, []).append(pod)
        return pod

    def of(self, job: str) -> list[AnyPod]:
        """The pods of a Job."""
        return self._pods.get(job, [])

    def live(self) -> list[AnyPod]:
        """All pods that have not ended."""
        return [pod for pods in self._pods.values() for pod in pods if not pod.terminal]

    def statuses(self, job: str) -> list[PodStatus]:
        """The pods of a Job as its controller sees them."""
        return [pod.status() for pod in (*self._lost.get(job, ()), *self.of(job))]

    def create(self, job: Job, index: int | None) -> AnyPod:
        """Make a pod; `start_waiting` starts it."""
        pods = self._pods.setdefault(job.name, [])
        slot = index if index is not None else _free_slot(pods)
        pod = self._workplace.make(self._identity(job, slot, _new_uid()), self._on_change)
        pods.append(pod)
        self._waiting.append(pod)
        return pod

    def _identity(self, job: Job, slot: int, uid: str) -> PodIdentity:
        failures = job.index_failures.get(slot)
        return PodIdentity(
            self._plan,
            self._plan.role(job.role),
            job_index=job.index,
            slot=slot,
            uid=uid,
            attempt=job.attempt,
            job_attempt=job.job_attempt,
            failures=0 if failures is None else failures.counted,
        )

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


def _free_slot(pods: list[AnyPod]) -> int:
    taken = {pod.identity.slot for pod in pods if not pod.terminal}
    return next(slot for slot in range(len(taken) + 1) if slot not in taken)


def _new_uid() -> str:
    """A random uid in the form of a version 4 UUID, without importing uuid."""
    data = bytearray(os.urandom(16))
    data[6] = data[6] & 0x0F | 0x40
    data[8] = data[8] & 0x3F | 0x80
    text = data.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
