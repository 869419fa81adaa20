"""The pods of one job that run elsewhere: there, on their way, or waiting for a place."""

from __future__ import annotations

from abc import abstractmethod

from trainway.agent.supervisor.pod_registry import Workplace
from trainway.agent.supervisor.remote_pod import RemotePod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol

    from trainway.agent.base.clock import Clock
    from trainway.agent.base.event_loop import Timetable
    from trainway.agent.base.journal import Journal
    from trainway.agent.base.pod_identity import PodIdentity
    from trainway.agent.controllers.job import Job
    from trainway.agent.supervisor.pod_registry import AnyPod, PodRegistry
    from trainway.agent.transfer.frames import HostRequest, LetGo, StopPod
    from trainway.json_types import Json

    class PodsOwner(Protocol):
        """Who runs the job, as far as its pods know it."""

        @abstractmethod
        def on_turn(self) -> None:
            """The turn of a pod has come: it may be sent off."""

        @abstractmethod
        def on_pod_over(self) -> None:
            """A pod has ended."""

        @abstractmethod
        def abandon(self) -> None:
            """Let nothing of the job run on."""

    class GangOwner(PodsOwner, Protocol):
        """The gang."""

        id: str

        @abstractmethod
        def has_place(self, pod: str) -> bool:
            """Whether the pod of that key has a place."""

        @abstractmethod
        def send(self, host: str, frame: HostRequest) -> bool:
            """Say something to a host."""


PAUSE_S = 1.0
"""How long after the end of a pod its job has decided what becomes of the others."""


class RemotePods(Workplace):
    """All pods of a job that have not ended."""

    kind = RemotePod

    def __init__(self, owner: PodsOwner, loop: Timetable, journal: Journal, clock: Clock) -> None:
        self._owner = owner
        self._loop = loop
        self._journal = journal
        self.now: Callable[[], float] = clock.now
        self._pods: dict[str, RemotePod] = {}
        self._has_held = False
        """Whether a pod waits for the environments of others."""

    def get(self, uid: str) -> RemotePod | None:
        """The pod with that uid, if it has not ended."""
        return self._pods.get(uid)

    def sent(self) -> list[RemotePod]:
        """Those that may run somewhere."""
        return [pod for pod in self._pods.values() if pod.host]

    def waiting(self) -> list[RemotePod]:
        """Those whose turn has come, and that have not been sent off."""
        return [
            pod
            for pod in self._pods.values()
            if pod.started and not (pod.host or pod.deleted or pod.terminal)
        ]

    def place_of(self, pod: RemotePod) -> str:
        """Its own place, or that of another pod of its Job that is over.

        Pods beyond what a Job may run at once have no resources of their own.
        """
        identity = pod.identity
        parallelism = identity.role.job.parallelism
        if identity.slot < parallelism:
            return identity.key
        taken = {other.place for other in self.sent()}
        for slot in range(parallelism):
            place = f"{identity.role.name}-{identity.job_index}-{slot}"
            if place not in taken:
                return place
        return identity.key

    def make(self, identity: PodIdentity, on_change: Callable[[AnyPod], object]) -> RemotePod:
        """A pod that waits for a place, or goes to the one it has."""

        def changed(pod: AnyPod) -> None:
            if pod.terminal and self._pods.pop(pod.identity.uid, None) is not None:
                self._owner.on_pod_over()
            on_change(pod)
            self._note_held(made)

        made = self._pods[identity.uid] = self.kind(identity, self, changed)
        return made

    def recover(self, pods: PodRegistry, job: Job, records: Sequence[Json], now: float) -> None:
        """Pods of an earlier pool agent run on under the agents of their hosts."""
        for record in records:
            uid = str(record["uid"])
            pods.adopt(job, int(record["slot"]), uid)
            self._pods[uid].restore(record, now)
            if self._pods[uid].terminal:
                del self._pods[uid]

    def clear(self, done: Callable[[], object]) -> None:
        """Nothing is left when all pods have ended: their hosts see to that."""
        done()

    def abandon(self) -> None:
        """Let nothing of the job run on."""
        self._owner.abandon()

    def soon(self, callback: Callable[[], object]) -> None:
        """Call back in the next turn."""
        self._loop.call_soon(callback)

    def write(self, record: Json) -> None:
        """Put a pod into the journal."""
        self._journal.append("pod", record)

    def has_place(self, _pod: RemotePod) -> bool:
        """All pods of a job have one, or none has."""
        return True

    def send_start(self, _pod: RemotePod) -> None:
        """Send a pod off, if it has a place by now."""
        self._owner.on_turn()

    def _note_held(self, pod: RemotePod) -> None:
        """A pod changed: it waits for others, or others may have waited for it.

        One that has ended may take its job along: what is to be stopped then shall not start first.
        """
        self._has_held = self._has_held or pod.is_held
        if self._has_held and pod.terminal:
            self._loop.call_later(PAUSE_S, self._let_go)
        elif self._has_held:
            self._let_go()

    def _let_go(self) -> None:
        """Start the pods that wait for the environments of others, if there are no others left."""
        held = [pod for pod in self.sent() if pod.is_held]
        late = (pod for pod in self._pods.values() if pod.is_waited_for)
        if not any(pod.host or self.has_place(pod) for pod in late):
            for pod in held:
                pod.is_let_go = self.send_go(pod)
        self._has_held = any(pod.is_held for pod in held)

    @abstractmethod
    def send_stop(self, pod: RemotePod) -> None:
        """Have a pod stopped where it runs."""

    @abstractmethod
    def send_go(self, pod: RemotePod) -> bool:
        """Have a pod start that waits for others; whether it was said."""


class GangPods(RemotePods):
    """Those of a gang, which run on hosts of a pool."""

    has_other_nodes = True

    def __init__(self, gang: GangOwner, loop: Timetable, journal: Journal, clock: Clock) -> None:
        super().__init__(gang, loop, journal, clock)
        self._gang = gang

    def has_place(self, pod: RemotePod) -> bool:
        """An elastic gang may have fewer places than pods."""
        return self._gang.has_place(self.place_of(pod))

    def on(self, host: str) -> list[RemotePod]:
        """Those on a host."""
        return [pod for pod in self._pods.values() if pod.host == host]

    def keys_on(self, host: str) -> set[str]:
        """How those on a host are called."""
        return {pod.identity.key for pod in self.on(host)}

    def send_stop(self, pod: RemotePod) -> None:
        """Have its host stop a pod."""
        frame: StopPod = {
            "op": "stop",
            "id": self._gang.id,
            "uid": pod.identity.uid,
            "how": pod.how,
        }
        self._gang.send(pod.host, frame)

    def send_go(self, pod: RemotePod) -> bool:
        """Have its host start a pod that waits for others."""
        frame: LetGo = {"op": "go", "id": self._gang.id, "uid": pod.identity.uid}
        return self._gang.send(pod.host, frame)

    def repeat(self, pod: RemotePod) -> None:
        """Say again, over a new connection, what is wanted of a pod."""
        if pod.deleted:
            self.send_stop(pod)
        pod.is_let_go = False
        self._let_go()
