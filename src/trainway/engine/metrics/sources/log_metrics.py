"""Metrics from what a job prints: reads its log behind the job, on every backend alike.

The log is kept whether a server runs or not, and how far it was read is stored with the points; so
the next server goes on where this one was. Only stdout of the first pod of each role counts, and
not that of pods which fetch data or models.
"""

import asyncio
import logging
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from trainway.backends.base import Handle, LogLine, LogQuery
from trainway.backends.capabilities import KeepsLogs
from trainway.compiler.restarts import INITIALIZERS
from trainway.engine.metrics.recorder import Recorder
from trainway.engine.metrics.report import Position, Report, report_of_numbers
from trainway.engine.metrics.sources.matcher import Matcher

log = logging.getLogger(__name__)

SOURCE: Final = "logs"
LINE_LIMIT: Final = 4_096
"""The characters of a line that are looked at."""
_PAUSE_S: Final = 0.5
"""Between two looks at a log, unless there is much to read, in seconds."""
_MANY: Final = 500
_RETRY_S: Final = 5.0
_FIRST: Final = 0


class LogMetrics:
    """Reads the log of one job."""

    def __init__(
        self, job_id: str, backend: KeepsLogs, handle: Handle, recorder: Recorder, matcher: Matcher
    ) -> None:
        self._job_id = job_id
        self._backend = backend
        self._handle = handle
        self._recorder = recorder
        self._matcher = matcher
        self._continued: set[tuple[object, ...]] = set()
        """The containers whose last line goes on."""

    async def read(self, position: str, ended: asyncio.Event) -> None:
        """Read from there until the job has ended."""
        try:
            while True:
                try:
                    await self._follow(position, ended)
                except OSError as error:
                    log.warning("job %s: its log is read again later: %s", self._job_id, error)
                else:
                    return
                if ended.is_set():
                    return
                await asyncio.sleep(_RETRY_S)
                position = await self._recorder.position(self._job_id, SOURCE)
        finally:
            await self._matcher.close()

    async def _follow(self, position: str, ended: asyncio.Event) -> None:
        query = LogQuery(rank=_FIRST, all_attempts=True, follow=True, cursor=position)
        async for batch in self._backend.logs(self._handle, query, ended):
            await self._take(batch)
            if len(batch) < _MANY and not ended.is_set():
                await _pause(ended)

    async def _take(self, batch: Sequence[LogLine]) -> None:
        lines = [line for line in batch if self._counts(line)]
        found = await self._matcher.numbers([_text(line) for line in lines])
        reports = [
            report_of_numbers(numbers, _seconds(line), Position(SOURCE, line.cursor))
            for line, numbers in zip(lines, found, strict=True)
            if numbers
        ]
        kept = [report for report in reports if report is not None]
        kept.append(Report(0, {}, position=Position(SOURCE, batch[-1].cursor)))
        await self._recorder.note(self._job_id, kept)

    def _counts(self, line: LogLine) -> bool:
        """Whether it is a line of the first pod, or the beginning of one."""
        container = (line.role, line.job, line.container, line.attempt, line.stream)
        is_rest = container in self._continued
        (self._continued.add if line.is_part else self._continued.discard)(container)
        is_first = line.job == _FIRST and line.rank == _FIRST and line.role not in INITIALIZERS
        return is_first and line.stream == "stdout" and not is_rest


def _text(line: LogLine) -> str:
    """What a terminal would show of it in the end: progress bars write over themselves."""
    shown = line.text.rstrip(b"\r").rpartition(b"\r")[2]
    return shown[: 4 * LINE_LIMIT].decode("utf-8", "replace")[:LINE_LIMIT]


def _seconds(line: LogLine) -> float:
    return datetime.fromisoformat(line.time).timestamp() if line.time else 0


async def _pause(ended: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(_PAUSE_S):
            await ended.wait()
    except TimeoutError:
        pass
