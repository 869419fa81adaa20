"""When a job has run for longer than it may."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from trainway.engine.record import JobRecord
from trainway.engine.times import left_s
from trainway.jobset.status import find_condition, moment


def begin_of(record: JobRecord, conditions: Sequence[dict[str, Any]]) -> datetime | None:
    """Since when the time of a job counts: its start, or when it was resumed; None: not now."""
    if not record.started:
        return None
    begin = moment(record.started)
    suspended = find_condition(conditions, "Suspended")
    if suspended is None:
        return begin
    if suspended.get("status") == "True":
        return None
    return max(begin, moment(suspended["lastTransitionTime"]))


class Deadline:
    """Calls back when the time of one job is over. It counts while the job runs."""

    def __init__(self, clock: Callable[[], datetime], on_missed: Callable[[], None]) -> None:
        self._clock = clock
        self._on_missed = on_missed
        self._timer: asyncio.TimerHandle | None = None

    def set(self, record: JobRecord, conditions: Sequence[dict[str, Any]]) -> None:
        """Begin to count, unless that was done; from the last time that the job was resumed."""
        limit = record.deadline_seconds
        begin = begin_of(record, conditions)
        if limit is None or self._timer is not None or begin is None:
            return
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(left_s(begin, limit, self._clock()), self._miss)

    def clear(self) -> None:
        """Stop counting: the time begins anew when the job is resumed."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _miss(self) -> None:
        self._timer = None
        self._on_missed()
