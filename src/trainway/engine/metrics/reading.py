"""Answers about the history of a job's metrics, once or as a stream."""

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Final

from trainway.engine.ledger import Ledger
from trainway.engine.metrics.recorder import Recorder
from trainway.engine.metrics.store import Point, Range, Summary
from trainway.engine.metrics.usage_series import is_system
from trainway.engine.reading import Reading
from trainway.engine.record import JobRecord
from trainway.engine.times import time_text
from trainway.errors import NotFoundError
from trainway.json_types import Json

_STREAMED_REPORTS: Final = 50
"""At a time."""


class MetricReading:
    """Looks up what jobs have reported; what was taken so far is stored first, and so is shown."""

    def __init__(self, ledger: Ledger, recorder: Recorder, reading: Reading) -> None:
        self._ledger = ledger
        self._store = ledger.store.metrics
        self._recorder = recorder
        self._reading = reading

    async def history(
        self,
        ref: str,
        names: Collection[str],
        wanted: Range,
        most: int | None,
        *,
        system: bool = False,
    ) -> Json:
        """Series of a job, each with at most so many points; None: none.

        Those named, or all that its code reported, or with `system` all of what it used.
        """
        record = await self._reading.record(ref)
        await self._recorder.flush()
        summaries = (await self.summaries([record.id]))[record.id]
        unknown = [name for name in names if name not in summaries]
        if unknown:
            known = ", ".join(name for name in summaries if not is_system(name)) or "none yet"
            raise NotFoundError(
                f"{record.name} has no series {unknown[0]!r}", hint=f"its series: {known}"
            )
        chosen = names or [name for name in summaries if is_system(name) == system]
        shown = {name: summaries[name] for name in chosen}
        series: Json = {}
        for name in shown if most else ():  # one call each: others need not wait for all
            points = await self._ledger.call(self._store.points, record.id, name, wanted, most)
            series[name] = [point_view(point) for point in points]
        return {"series": series, "summary": {name: asdict(found) for name, found in shown.items()}}

    async def summaries(self, job_ids: Collection[str]) -> dict[str, dict[str, Summary]]:
        """Last, smallest and largest value of every series of these jobs, by id and name."""
        return await self._ledger.call(self._store.summaries, job_ids)

    async def latest(self, job_ids: Collection[str], name: str) -> dict[str, float]:
        """The last value of a series of each of these jobs that has it."""
        await self._recorder.flush()
        found = await self.summaries(job_ids)
        return {id_: series[name].last for id_, series in found.items() if name in series}

    async def points(self, job_id: str, name: str, most: int) -> list[Point]:
        """A series that a job has, as far as it is stored."""
        return await self._ledger.call(self._store.points, job_id, name, Range(), most)

    async def stream(
        self, ref: str, after: int = 0, *, system: bool = False
    ) -> AsyncIterator[tuple[int, Json]]:
        """The kept points after a report, and those to come, with the number to go on after.

        They are those that the job's code reported, or with `system` those of what it used.
        """
        record = await self._reading.record(ref)
        while True:
            seen = self._counts(record)
            with suppress(NotFoundError):
                record = await self._reading.record(record.id)
            await self._recorder.flush()
            found = await self._ledger.call(self._store.after, record.id, after, _STREAMED_REPORTS)
            if found:
                after = found[-1][1].seq
                of_kind = [pair for pair in found if is_system(pair[0]) == system]
                if of_kind:
                    yield after, _grouped(of_kind)
            elif record.is_over or not await self._ledger.call(self._ledger.store.has, record.id):
                return
            else:
                await self._change(record, seen)

    def _counts(self, record: JobRecord) -> tuple[int, int]:
        return self._recorder.changes.count(record.id), self._ledger.changes.count(record.id)

    async def _change(self, record: JobRecord, seen: tuple[int, int]) -> None:
        """Wait for new points, or for another change of the job, which may be its end."""
        sources = (self._recorder.changes, self._ledger.changes)
        waiting = [
            asyncio.create_task(changes.wait(record.id, count))
            for changes, count in zip(sources, seen, strict=True)
        ]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)


def point_view(point: Point) -> Json:
    """A point as the API shows it."""
    epoch = {} if point.epoch is None else {"epoch": point.epoch}
    time = time_text(datetime.fromtimestamp(point.time, UTC))
    return {"step": point.step, **epoch, "time": time, "value": point.value}


def _grouped(found: Sequence[tuple[str, Point]]) -> Json:
    series: dict[str, list[Json]] = {}
    for name, point in found:
        series.setdefault(name, []).append(point_view(point))
    return {"series": series}
