"""A pod that runs on a host of the pool, as the controllers of its job see it.

What it is doing is known from the records that its host sends; what is wanted of it is sent there.
A pod may be started before it has a place: it stays Pending, and its gang sends it off later.
"""

from __future__ import annotations

from trainway.agent.base.pod_status import TERMINAL, PodStatus
from trainway.agent.supervisor.environment_gate import is_held, is_waited_for
from trainway.agent.supervisor.recovery import DISRUPTIONS, exit_codes, lost

TYPE_CHECKING = False
if TYPE_CHECKING:
    from abc import abstractmethod
    from collections.abc import Callable
    from typing import Protocol

    from trainway.agent.base.pod_identity import PodIdentity
    from trainway.agent.base.records import ContainerRecord, PodRecord
    from trainway.agent.supervisor.pod_registry import AnyPod
    from trainway.json_types import Json

    class Dispatcher(Protocol):
        """What a pod needs of its gang."""

        now: Callable[[], float]

        @abstractmethod
        def soon(self, callback: Callable[[], object]) -> None:
            """Call back in the next turn."""

        @abstractmethod
        def write(self, record: Json) -> None:
            """Put a pod into the journal."""

        @abstractmethod
        def has_place(self, pod: RemotePod) -> bool:
            """Whether there is room for a pod that has not been sent off."""

        @abstractmethod
        def send_start(self, pod: RemotePod) -> None:
            """Send a pod off, if it has a place by now."""

        @abstractmethod
        def send_stop(self, pod: RemotePod) -> None:
            """Have its host stop a pod."""


DELETE, KILL = "delete", "kill"
ENVELOPE = ("seq", "time", "type", "id", "event", "token")
"""The fields of a record that are not about the pod."""


def is_disrupted(record: Json) -> bool:
    """Whether a pod ended through no fault of its own."""
    return record.get("phase") in TERMINAL and record.get("reason") in DISRUPTIONS


class RemotePod:
    """One pod of a gang, on one host."""

    def __init__(
        self, identity: PodIdentity, dispatcher: Dispatcher, on_change: Callable[[AnyPod], object]
    ) -> None:
        self.identity = identity
        self._dispatcher = dispatcher
        self._on_change = on_change
        self.host = ""
        """The host that it was sent to; empty while it has no place."""
        self.place = identity.key
        """The key of the pod whose place and devices it has; another's where that pod is over."""
        self.started = False
        """Whether its turn has come."""
        self.seen = False
        """Whether its host has said something about it."""
        self.is_let_go = False
        """Whether it was told that its job has its environment everywhere."""
        self.deleted = False
        self.how = DELETE
        self.finished_at = 0.0
        self._restart_times: list[float] = []
        self._last: Json = self._first_record()

    def _first_record(self) -> Json:
        spec, identity = self.identity.role.pod_spec, self.identity
        containers: list[ContainerRecord] = [
            {**_waiting(item), "kind": _kind(item)} for item in _items(spec, "init")
        ]
        containers += [_waiting(item) for item in _items(spec, "main")]
        first: PodRecord = {
            "pod": identity.key,
            "job": identity.job_name,
            "slot": identity.slot,
            "uid": identity.uid,
            "name": identity.name,
            "attempt": identity.attempt,
            "phase": "Pending",
            "ready": False,
            "containers": containers,
        }
        return dict(first)

    @property
    def terminal(self) -> bool:
        """Whether it ended."""
        return self._last.get("phase") in TERMINAL

    @property
    def is_held(self) -> bool:
        """Whether it has its environment, and was not told to go on."""
        return not (self.is_let_go or self.deleted) and is_held(self._last)

    @property
    def is_waited_for(self) -> bool:
        """Whether others that have their environment have to wait for it."""
        plan, role = self.identity.plan, self.identity.role.name
        return self.started and is_waited_for(self._last, plan, role, is_seen=self.seen)

    @property
    def temporary(self) -> list[str]:
        """Nothing of it is on this machine."""
        return []

    def status(self) -> PodStatus:
        """The pod as the Job controller sees it."""
        indexed = self.identity.role.job.indexed
        disrupted = is_disrupted(self._last)
        return PodStatus(
            self.identity.uid,
            name=self.identity.name,
            index=self.identity.slot if indexed else None,
            phase=str(self._last.get("phase")),
            ready=bool(self._last.get("ready")),
            deleted=self.deleted,
            exit_codes=[] if disrupted else exit_codes(self._last),
            restart_times=self._restart_times,
            finished_at=self.finished_at,
            disrupted=disrupted,
            placed=bool(self.host) or self._dispatcher.has_place(self),
        )

    def record(self) -> Json:
        """The pod as the journal has it."""
        record = dict(self._last)
        if self.deleted:
            record["deleted"] = True
        if self.host:
            record["host"] = self.host
        if self.place != self.identity.key:
            record["place"] = self.place
        return record

    def restore(self, record: Json, now: float) -> None:
        """Be what an earlier pool agent wrote about it."""
        self._last = _bare(record)
        self.started = True
        self.seen = "hostSeq" in record
        self.deleted = bool(record.get("deleted"))
        self.host = str(record.get("host") or "")
        self.place = str(record.get("place") or self.identity.key)
        self.finished_at = now if self.terminal else 0.0
        self._restart_times = [now] * _restarts(self._last)

    def start(self) -> None:
        """Let it begin, here or as soon as there is a place."""
        if self.terminal:
            return
        self.started = True
        if self.deleted:
            self._end_unsent()
            return
        self._dispatcher.send_start(self)
        if not self.host:
            self._publish()

    def sent_to(self, host: str, place: str) -> None:
        """It has a place now."""
        self.host, self.place = host, place
        self._publish()

    def delete(self) -> None:
        """Stop it, with its grace period; it counts as deleted from now on."""
        if not self.deleted and not self.terminal:
            self.deleted = True
            self._dispatcher.soon(self._stop)

    def kill(self) -> None:
        """Stop it without waiting for anything."""
        if not self.terminal:
            self.deleted, self.how = True, KILL
            self._stop()

    def interrupt(self, reason: str) -> None:
        """Count it as ended for a reason that is not its own."""
        self.lose(reason, "")

    def _stop(self) -> None:
        if self.terminal or not self.started:
            return
        if self.host:
            self._publish()
            self._dispatcher.send_stop(self)
        else:
            self._end_unsent()

    def _end_unsent(self) -> None:
        self._take({**self._last, "phase": "Failed", "ready": False})

    def lose(self, reason: str, message: str) -> None:
        """Count it as ended: what ran it is gone."""
        if not self.terminal:
            self._take(lost(self._last, reason, message))

    def fail(self, reason: str, message: str) -> None:
        """Count it as failed: its host could not run it."""
        if not self.terminal:
            failed = {"phase": "Failed", "ready": False, "reason": reason, "message": message}
            self._take({**self._last, **failed})

    def take(self, record: Json) -> None:
        """Its host says how it is."""
        if not self.terminal:
            self.seen = True
            self._take(_bare(record), hostSeq=record.get("seq"))

    def _take(self, record: Json, **more: object) -> None:
        now = self._dispatcher.now()
        grown = _restarts(record) - _restarts(self._last)
        self._restart_times = [*self._restart_times, *([now] * max(0, grown))]
        self._last = record
        if self.terminal:
            self.finished_at = now
        self._publish(**more)

    def _publish(self, **more: object) -> None:
        self._dispatcher.write({**self.record(), **more})
        self._on_change(self)


def _bare(record: Json) -> Json:
    left_out = (*ENVELOPE, "host", "hostSeq", "place", "deleted")
    return {key: value for key, value in record.items() if key not in left_out}


def _restarts(record: Json) -> int:
    return sum(int(item.get("restarts") or 0) for item in record.get("containers") or [])


def _items(spec: Json, kind: str) -> list[Json]:
    return list(spec.get("initContainers" if kind == "init" else "containers") or [])


def _waiting(container: Json) -> ContainerRecord:
    return {"name": str(container["name"]), "state": "waiting", "restarts": 0}


def _kind(container: Json) -> str:
    return "sidecar" if container.get("restartPolicy") == "Always" else "init"
