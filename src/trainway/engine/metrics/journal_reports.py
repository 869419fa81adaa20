"""The reports in the journal of one job, each of which is kept once.

They are taken before it is written how far the journal was read, so that nobody sees a job that is
over without its last report. A write that fails brings the same records again.
"""

from collections.abc import Sequence

from trainway.engine.metrics.recorder import Recorder
from trainway.engine.metrics.report import Report


class JournalReports:
    """What was taken of a journal."""

    def __init__(self, recorder: Recorder, job_id: str) -> None:
        self._recorder = recorder
        self._job_id = job_id
        self._newest = -1

    async def take(self, reports: Sequence[tuple[int, Report]]) -> None:
        """Have reports kept that come with the numbers of their records."""
        new = [(seq, report) for seq, report in reports if seq > self._newest]
        if new:
            self._newest = new[-1][0]
            await self._recorder.note(self._job_id, [report for _, report in new])
