"""Managed queues, for a program: how much of everything their jobs may have."""

from typing import Any

from trainway.json_types import Json
from trainway.sdk.named_handle import NamedHandle
from trainway.sdk.queue_rest import QueueRest
from trainway.sdk.rest import Rest

_API_VERSION = "trainway.dev/v1"


class Queue(NamedHandle[QueueRest]):
    """A handle on a queue."""

    @property
    def state(self) -> str:
        """`Open`, `Paused` or `Draining`, as far as is known here."""
        return str(self._data["status"]["state"])

    @property
    def used(self) -> Json:
        """What its jobs use, by resource."""
        used: Json = self._data["status"]["used"]
        return used

    def refresh(self) -> Json:
        """The queue as the server has it now, with the jobs that wait in it: `status.jobs`."""
        self._data = self._rest.queue(self.name)
        return self._data

    def pause(self) -> None:
        """Let none of its jobs start; what runs goes on."""
        self._data = self._rest.pause_queue(self.name)

    def resume(self) -> None:
        """Let jobs come in and start again."""
        self._data = self._rest.resume_queue(self.name)

    def drain(self) -> None:
        """Take in no more jobs; those that wait still start."""
        self._data = self._rest.drain_queue(self.name)

    def delete(self) -> None:
        """Forget it; there must be no job in it."""
        self._rest.delete_queue(self.name)


class Queues:
    """The managed queues of a server."""

    def __init__(self, rest: Rest) -> None:
        self._rest = QueueRest(rest.transport)

    def list(self) -> "list[Queue]":
        """All of them, by name."""
        return [Queue(self._rest, data) for data in self._rest.queues()]

    def get(self, name: str) -> Queue:
        """The queue of that name."""
        return Queue(self._rest, self._rest.queue(name))

    def apply(self, name: str, **spec: Any) -> Queue:
        """Make a queue, or change it: `apply("team", quota={"gpu": 8}, cohort="lab")`.

        `spec` has the fields that a file for `trainway queues apply` has.
        """
        obj = {"apiVersion": _API_VERSION, "kind": "Queue"}
        return Queue(
            self._rest, self._rest.apply_queue({**obj, "metadata": {"name": name}, "spec": spec})
        )

    def set_job(self, ref: str, *, priority: int | None = None, queue: str | None = None) -> Json:
        """Give a job that waits another priority, or put it into another queue."""
        return self._rest.set_job(ref, priority, queue)
