"""How far the sources of metrics were read: the log of a job, and files that it writes.

A position is stored in the transaction of the points that were found before it. So after a crash
no point is missing, and none is there twice.
"""

from collections.abc import Collection, Iterable

from sqlalchemy import ColumnElement, Connection, delete, insert, select

from trainway.engine.metrics.report import Report
from trainway.engine.tables import POSITIONS


def stored_position(connection: Connection, job_id: str, source: str) -> str:
    """Where to go on with a source; empty: at its beginning."""
    query = select(POSITIONS.c.position).where(*_is(job_id, source))
    return str(connection.execute(query).scalar() or "")


def store_positions(
    connection: Connection, reports: Iterable[tuple[str, Report]], jobs: Collection[str]
) -> None:
    """Keep the last position of each source that these reports come from."""
    newest = {
        (job_id, report.position.source): report.position.text
        for job_id, report in reports
        if report.position is not None and job_id in jobs
    }
    for (job_id, source), text in newest.items():
        connection.execute(delete(POSITIONS).where(*_is(job_id, source)))
        row = {"job_id": job_id, "source": source, "position": text}
        connection.execute(insert(POSITIONS), row)


def forget_positions(connection: Connection, job_id: str) -> None:
    """Remove those of a job."""
    connection.execute(delete(POSITIONS).where(POSITIONS.c.job_id == job_id))


def _is(job_id: str, source: str) -> tuple[ColumnElement[bool], ...]:
    return POSITIONS.c.job_id == job_id, POSITIONS.c.source == source
