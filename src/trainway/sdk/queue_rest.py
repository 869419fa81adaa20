"""The server's routes for managed queues, in plain JSON."""

from typing import Any

from trainway.json_types import Json
from trainway.sdk.rest import Rest
from trainway.sdk.transport import segment


class QueueRest(Rest):
    """A server, with its managed queues."""

    def queues(self) -> list[Json]:
        """All of them, by name."""
        items: list[Json] = self._transport.request("GET", "/managed-queues")["items"]
        return items

    def queue(self, name: str) -> Json:
        """One, with the jobs that wait in it and why."""
        return self._asked("GET", name)

    def apply_queue(self, queue: Json) -> Json:
        """Make a queue as an object says, or change the one of its name."""
        metadata = queue.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        if not isinstance(name, str) or not name or "/" in name:
            name = "-"  # the server says what is wrong with it
        return self._asked("PUT", name, body=queue)

    def pause_queue(self, name: str) -> Json:
        """Let none of its jobs start; what runs goes on."""
        return self._asked("POST", name, "/pause")

    def resume_queue(self, name: str) -> Json:
        """Let jobs come in and start again."""
        return self._asked("POST", name, "/resume")

    def drain_queue(self, name: str) -> Json:
        """Take in no more jobs; those that wait still start."""
        return self._asked("POST", name, "/drain")

    def delete_queue(self, name: str) -> Json:
        """Forget one in which there is no job."""
        return self._asked("DELETE", name)

    def set_job(self, ref: str, priority: int | None = None, queue: str | None = None) -> Json:
        """Give a job another priority or another queue."""
        wanted = {"priority": priority, "queue": queue}
        body = {name: value for name, value in wanted.items() if value is not None}
        path = f"/jobs/{segment(ref)}/queue"
        job: Json = self._transport.request("POST", path, body=body)
        return job

    def _asked(self, method: str, name: str, verb: str = "", **more: Any) -> Json:
        path = f"/queues/{segment(name)}{verb}"
        queue: Json = self._transport.request(method, path, **more)
        return queue
