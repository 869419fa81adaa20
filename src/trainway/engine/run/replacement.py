"""How a job takes the place of another one in its run.

A job that is submitted again is a new job, and the old one keeps its logs and its history. The new
one comes with the mark on the old one in one transaction, so a run always has one job in each
place. If the new one is deleted, the place is that of the old one again.
"""

from sqlalchemy import Connection, or_, select, update

from trainway.engine.record import Event, JobRecord
from trainway.engine.tables import JOBS


def take_place(connection: Connection, job: JobRecord) -> list[str]:
    """Mark who had the place that a new job takes; the ids of those, mostly one or none."""
    if job.place is None:
        return []
    is_there = or_(JOBS.c.id == job.place, JOBS.c.place == job.place)
    others = (JOBS.c.run == job.run, is_there, JOBS.c.replaced_by.is_(None), JOBS.c.id != job.id)
    found = list(connection.execute(select(JOBS.c.id).where(*others)).scalars())
    marked = update(JOBS).where(JOBS.c.run == job.run, JOBS.c.id.in_(found))
    connection.execute(marked.values(replaced_by=job.id))
    return found


def give_place_back(connection: Connection, run: str, job_id: str) -> None:
    """Let whoever was replaced by a job that goes be replaced by its successor, or by nobody."""
    successor = select(JOBS.c.replaced_by).where(JOBS.c.id == job_id)
    heir = connection.execute(successor).scalar()
    behind = update(JOBS).where(JOBS.c.run == run, JOBS.c.replaced_by == job_id)
    connection.execute(behind.values(replaced_by=heir))


def replacement(job: JobRecord) -> Event:
    """What happens to the one that is replaced."""
    said = f"the job {job.id} takes its place in the run"
    return Event(job.created, "Normal", "Replaced", said, f"job/{job.name}")
