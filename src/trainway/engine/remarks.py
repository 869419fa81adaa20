"""Notes and links that people write on a job, also on one that has ended."""

from collections.abc import Mapping
from typing import Any

from trainway.engine.ledger import Ledger
from trainway.engine.live import LiveJob
from trainway.engine.reading import Reading
from trainway.engine.record import JobRecord
from trainway.engine.stored_job import Change
from trainway.errors import UsageError
from trainway.jobset.job_remarks import links_problem, note_problem
from trainway.json_types import Json


class Remarks:
    """Writes them."""

    def __init__(self, ledger: Ledger, reading: Reading, live: Mapping[str, LiveJob]) -> None:
        self._ledger = ledger
        self._reading = reading
        self._live = live
        """The jobs that are not over."""

    async def write(self, ref: str, note: str | None, links: Mapping[str, str | None]) -> Json:
        """Set the note, unless it is None, and links; a link that is None is removed."""
        record = await self._reading.record(ref)
        live = self._live.get(record.id)
        if live is not None:
            await live.alter(lambda: Change(_columns(live.record, note, links)))
        else:
            # Read and written in one turn of the store: nobody can come between.
            await self._ledger.call(self._write, record.id, note, links)
            self._ledger.changes.notify(record.id)
        return await self._reading.get(record.id)

    def _write(self, job_id: str, note: str | None, links: Mapping[str, str | None]) -> None:
        store = self._ledger.store
        store.update(job_id, _columns(store.get(job_id), note, links))


def _columns(
    record: JobRecord, note: str | None, links: Mapping[str, str | None]
) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    if note is not None:
        _refuse(note_problem(note), "note")
        columns["note"] = note
    if links:
        after = {name: url for name, url in {**record.link_map, **links}.items() if url is not None}
        _refuse(links_problem(after), "links")
        columns["links"] = after
    return columns


def _refuse(problem: str | None, field: str) -> None:
    if problem is not None:
        raise UsageError(problem, field=field)
