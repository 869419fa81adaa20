"""The reports in the journal of one job, each of which is kept once.

They are taken before it is written how far the journal was read, so that nobody sees a job that is
over without its last report. A write that fails brings the same records again.

Most of what a journal says while a job runs is how its training goes. That changes nothing else of
the job, so it is not written for each report, but by the recorder for all jobs at once.
"""

from collections.abc import Mapping
from typing import Any, Final, Protocol

from trainway.backends.base import Update
from trainway.engine.metrics.recorder import Recorder, Reporting
from trainway.engine.observation import Observation
from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord

_PROGRESS: Final = "progress"


class Watched(Reporting, Protocol):
    """A job whose journal is read."""

    record: JobRecord


class JournalReports:
    """What was taken of a journal."""

    def __init__(self, recorder: Recorder, job: Watched) -> None:
        self._recorder = recorder
        self._job = job
        self._newest = -1

    async def take(self, update: Update, observed: Observation) -> bool:
        """Have the reports kept that were just observed.

        True: the update says nothing else, and how far the journal was read is stored with them.
        """
        new = [(seq, report) for seq, report in observed.reports if seq > self._newest]
        if new:
            self._newest = new[-1][0]
            await self._recorder.note(self._job.id, [report for _, report in new])
        progress = {"progress": observed.reported} if observed.reported else {}
        if not observed.links and self._says_nothing_else(update.records):
            self._recorder.tell(self._job, progress | {"journal_seq": update.seq})
            return True
        if progress:
            self._recorder.tell(self._job, progress)
        await self._recorder.settle(self._job.id)
        return False

    def _says_nothing_else(self, records: tuple[Mapping[str, Any], ...]) -> bool:
        """Whether nothing follows but for the reports; where something is wanted, it might."""
        record = self._job.record
        is_calm = record.phase == Phase.RUNNING and not (
            record.wanted or record.reason or record.message
        )
        return is_calm and all(each.get("type") == _PROGRESS for each in records)
