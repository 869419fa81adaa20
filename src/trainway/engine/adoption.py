"""Takes up the jobs that an earlier server has left, each on its own.

One that cannot be taken up, because its record cannot be read or its backend fails, holds up no
other: it says so, and stays in the store as it is until the next server tries again.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from trainway.backends import capabilities
from trainway.engine.ledger import Ledger
from trainway.engine.left_job import NOT_TAKEN_UP, check_readable, is_left, without_unreadable
from trainway.engine.live import LiveJob
from trainway.engine.live_jobs import LiveJobs
from trainway.engine.record import Event, JobRecord
from trainway.engine.wishes import has_reason
from trainway.telemetry.log_subject import about, job_fields

log = logging.getLogger(__name__)

_TAKEN_UP: Final = {"reason": "", "message": ""}
"""What becomes of that once a later server can."""


@dataclass(frozen=True)
class Adoption:
    """What taking up needs of the engine."""

    ledger: Ledger
    live: LiveJobs
    add: Callable[[JobRecord], LiveJob]
    """Has a job among those that are not over."""
    look: Callable[[LiveJob], None]
    """Sees whether it was on its way elsewhere."""
    event: Callable[[JobRecord, str, str], Event]

    async def take_up(self, record: JobRecord) -> None:
        """Look after a job as its record says."""
        with about(job_fields(record.id, record.name)):
            try:
                await self._take_up(record)
            except Exception as error:
                log.exception("job %s cannot be taken up", record.id)
                await self._leave(record, f"{type(error).__name__}: {error}")

    async def _take_up(self, before: JobRecord) -> None:
        record = before.with_columns(_TAKEN_UP) if is_left(before) else before
        check_readable(record)
        live = self.add(record)
        await capabilities.adopt(live.backend, record.handle_data)
        if is_left(before):
            await self.ledger.write(record.id, _TAKEN_UP)
        if live.has_begun:
            live.carry()
        self.look(live)

    async def _leave(self, record: JobRecord, problem: str) -> None:
        if (live := self.live.get(record.id)) is not None:
            self.live.remove(record.id)
            await live.detach()
        said = f"this server could not take it up: {problem}; its log says more"
        columns = {"reason": NOT_TAKEN_UP, "message": said}
        self.live.leave(without_unreadable(record).with_columns(columns))
        if has_reason(record):  # its end is to have that
            columns = {}
        await self.ledger.write(record.id, columns, [self.event(record, NOT_TAKEN_UP, said)])
