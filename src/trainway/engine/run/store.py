"""Where runs are kept, beside their jobs."""

from collections.abc import Collection
from dataclasses import fields
from typing import Final

from sqlalchemy import Connection, Engine, and_, delete, func, insert, or_, select, update

from trainway.engine.database import transaction
from trainway.engine.phases import TERMINAL, Phase
from trainway.engine.record import storable
from trainway.engine.run.record import RunRecord
from trainway.engine.tables import JOBS, LABELS, RUNS
from trainway.errors import NotFoundError
from trainway.jobset.labels import TASK

_LARGE: Final = "template"
_ALL: Final = [RUNS.c[field.name] for field in fields(RunRecord) if field.name != _LARGE]


class RunStore:
    """The runs. Every method is one transaction; runs come and go with their jobs."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def get(self, ref: str) -> RunRecord:
        """The run with that id, or the newest one of that name."""
        query = select(*_ALL).where(or_(RUNS.c.id == ref, RUNS.c.name == ref))
        query = query.order_by((RUNS.c.id == ref).desc(), RUNS.c.id.desc()).limit(1)
        with self._engine.connect() as connection:
            row = connection.execute(query).first()
        if row is None:
            raise NotFoundError(
                f"there is no run {ref!r}", hint="trainway runs list shows them all"
            )
        return RunRecord(**row._asdict())

    def page(
        self, limit: int, *, before: str = "", name: str = "", pipelines: bool = False
    ) -> list[RunRecord]:
        """Runs, newest first; only pipelines, if that is wanted."""
        query = select(*_ALL).order_by(RUNS.c.id.desc()).limit(limit)
        if before:
            query = query.where(RUNS.c.id < before)
        if name:
            query = query.where(RUNS.c.name == name)
        if pipelines:
            query = query.where(RUNS.c.pipeline.is_not(None))
        with self._engine.connect() as connection:
            return [RunRecord(**row._asdict()) for row in connection.execute(query)]

    def several(self, ids: Collection[str]) -> list[RunRecord]:
        """The runs with these ids."""
        query = select(*_ALL).where(RUNS.c.id.in_(ids))
        with self._engine.connect() as connection:
            return [RunRecord(**row._asdict()) for row in connection.execute(query)]

    def counts(self, ids: Collection[str]) -> dict[str, dict[str, int]]:
        """How many jobs of each of these runs are in which phase."""
        query = (
            select(JOBS.c.run, JOBS.c.phase, func.count())
            .where(JOBS.c.run.in_(ids), JOBS.c.replaced_by.is_(None))
            .group_by(JOBS.c.run, JOBS.c.phase)
        )
        found: dict[str, dict[str, int]] = {}
        with self._engine.connect() as connection:
            for run, phase, count in connection.execute(query):
                found.setdefault(run, {})[phase] = count
        return found

    def all_jobs(self, run_id: str) -> list[str]:
        """The ids of its jobs, oldest first, with those that were replaced."""
        query = select(JOBS.c.id).where(JOBS.c.run == run_id).order_by(JOBS.c.id)
        with self._engine.connect() as connection:
            return list(connection.execute(query).scalars())

    def searches(self) -> list[RunRecord]:
        """The searches that have not ended."""
        query = select(*_ALL).where(RUNS.c.search.is_not(None), RUNS.c.outcome.is_(None))
        with self._engine.connect() as connection:
            return [RunRecord(**row._asdict()) for row in connection.execute(query)]

    def labelled(self, ids: Collection[str], key: str, value: str) -> set[str]:
        """Which of these runs have a job with a label."""
        is_labelled = and_(LABELS.c.key == key, LABELS.c.value == value)
        jobs = select(JOBS.c.run).join_from(JOBS, LABELS, LABELS.c.job_id == JOBS.c.id)
        with self._engine.connect() as connection:
            query = jobs.where(is_labelled, JOBS.c.run.in_(ids)).distinct()
            return set(connection.execute(query).scalars())

    def template(self, run_id: str) -> str:
        """What the trials of a search are made of."""
        query = select(RUNS.c.template).where(RUNS.c.id == run_id)
        with self._engine.connect() as connection:
            return connection.execute(query).scalar() or "[]"

    def change(self, run: RunRecord) -> None:
        """Keep how a search has ended, or that it goes on."""
        values = {name: getattr(run, name) for name in ("size", "search", "outcome")}
        with transaction(self._engine) as connection:
            connection.execute(update(RUNS).where(RUNS.c.id == run.id).values(values))

    def task_phases(self, ids: Collection[str]) -> dict[str, dict[str, Phase]]:
        """The phase of each task of these pipelines; one whose job was deleted is missing."""
        query = (
            select(JOBS.c.run, LABELS.c.value, JOBS.c.phase)
            .join_from(JOBS, LABELS, LABELS.c.job_id == JOBS.c.id)
            .where(LABELS.c.key == TASK, JOBS.c.run.in_(ids), JOBS.c.replaced_by.is_(None))
        )
        found: dict[str, dict[str, Phase]] = {id_: {} for id_ in ids}
        with self._engine.connect() as connection:
            for run, task, phase in connection.execute(query):
                found[run][task] = Phase(phase)
        return found

    def task_jobs(self, run_id: str) -> dict[str, str]:
        """The id of the job of each task of a pipeline."""
        query = (
            select(LABELS.c.value, JOBS.c.id)
            .join_from(JOBS, LABELS, LABELS.c.job_id == JOBS.c.id)
            .where(LABELS.c.key == TASK, JOBS.c.run == run_id, JOBS.c.replaced_by.is_(None))
        )
        with self._engine.connect() as connection:
            return {row.value: row.id for row in connection.execute(query)}

    def limited(self) -> list[RunRecord]:
        """The runs that are not over and may not have all of their jobs run at once."""
        unfinished = sorted(set(Phase) - TERMINAL)
        running = select(JOBS.c.run).where(JOBS.c.phase.in_(unfinished), JOBS.c.run.is_not(None))
        is_limited = or_(RUNS.c.parallel.is_not(None), RUNS.c.pipeline.is_not(None))
        query = select(*_ALL).where(is_limited, RUNS.c.id.in_(running))
        with self._engine.connect() as connection:
            return [RunRecord(**row._asdict()) for row in connection.execute(query)]

    def budgeted(self, ids: Collection[str] | None = None) -> list[RunRecord]:
        """Runs with a budget: those with these ids, or those that are not over."""
        unfinished = select(JOBS.c.run).where(
            JOBS.c.phase.in_(sorted(set(Phase) - TERMINAL)), JOBS.c.run.is_not(None)
        )
        is_open = and_(RUNS.c.search.is_not(None), RUNS.c.outcome.is_(None))
        wanted = or_(RUNS.c.id.in_(unfinished), is_open) if ids is None else RUNS.c.id.in_(ids)
        query = select(*_ALL).where(RUNS.c.budget.is_not(None), wanted)
        with self._engine.connect() as connection:
            return [RunRecord(**row._asdict()) for row in connection.execute(query)]


def insert_run(connection: Connection, run: RunRecord) -> None:
    """Keep a new one, with its jobs."""
    row = {field.name: storable(getattr(run, field.name)) for field in fields(run)}
    connection.execute(insert(RUNS).values(row))


def delete_empty(connection: Connection, run_id: str) -> None:
    """Forget a run with the last of its jobs."""
    left = select(JOBS.c.id).where(JOBS.c.run == run_id).exists()
    connection.execute(delete(RUNS).where(RUNS.c.id == run_id, ~left))
