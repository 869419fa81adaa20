"""Gives a job another priority, or puts it into another queue.

The change is acknowledged once it is stored, and the next round of the queue decides by it. A job
that runs keeps its place: only what waits is put into another order. A backend with a queue of its
own was told the priority when it was given the job, and keeps to that.
"""

from collections.abc import Callable, Mapping
from typing import Any

from trainway.engine import wishing
from trainway.engine.live import LiveJob
from trainway.engine.queues.queues import Queues
from trainway.engine.reading import Reading
from trainway.engine.stored_job import Change
from trainway.errors import UsageError
from trainway.json_types import Json
from trainway.queueing.queue_policy import check_priority


class JobSetting:
    """Changes what jobs of the queue are decided by."""

    def __init__(
        self,
        reading: Reading,
        live: Mapping[str, LiveJob],
        queues: Queues,
        request_round: Callable[[], object],
    ) -> None:
        self._reading = reading
        self._live = live
        self._queues = queues
        self._request_round = request_round

    async def set(self, ref: str, priority: int | None, queue: str | None) -> Json:
        """Change one of them or both; what is None stays."""
        if priority is None and queue is None:
            raise UsageError("there is nothing to change", hint="give a priority or a queue")
        if priority is not None:
            check_priority(priority, "priority")
        record, objects = await self._reading.whole(ref)
        live = self._live.get(record.id)
        if live is None:
            raise wishing.is_over(record, "changed")
        if queue is not None and queue != record.queue:
            self._queues.admitting(queue, field="queue")
        await live.alter(lambda: _change(live, priority, queue))
        self._request_round()
        return self._reading.shown(live.record, objects)


def _change(live: LiveJob, priority: int | None, queue: str | None) -> Change | None:
    record = live.record
    if record.is_over:
        raise wishing.is_over(record, "changed")
    columns: dict[str, Any] = {}
    said = []
    if priority is not None and priority != record.priority:
        columns["priority"] = priority
        said.append(f"its priority is {priority} now, and was {record.priority}")
    if queue is not None and queue != record.queue:
        columns["queue"] = queue
        said.append(f"it is in queue {queue} now, and was in {record.queue}")
    return Change(columns, [live.event("Changed", "; ".join(said))]) if columns else None
