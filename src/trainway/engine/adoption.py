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
from trainway.engine.live import LiveJob
from trainway.engine.live_jobs import LiveJobs
from trainway.engine.record import Event, JobRecord
from trainway.telemetry.log_subject import about, job_fields

log = logging.getLogger(__name__)

NOT_TAKEN_UP: Final = "NotTakenUp"
"""The reason of a job that this server could not take up."""
_TAKEN_UP: Final = {"reason": "", "message": ""}
"""What becomes of that once a later server can."""


def is_left(record: JobRecord) -> bool:
    """Whether nobody looks after a job although it is not over."""
    return record.reason == NOT_TAKEN_UP and not record.is_over


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
        live = self.add(record)
        _ = live.gang, live.holding  # which a round of the queue reads of all
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
        self.live.left[record.id] = record
        said = f"this server could not take it up: {problem}; its log says more"
        columns = {"reason": NOT_TAKEN_UP, "message": said}
        await self.ledger.write(record.id, columns, [self.event(record, NOT_TAKEN_UP, said)])
