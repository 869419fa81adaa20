"""Where jobs are kept: SQL through SQLAlchemy's Core, without its ORM, which starts too slowly.

Every method is one transaction. What a journal told is stored together with how far the journal was
read, so that after a crash each record counts exactly once.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
    Row,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from trainway.engine import event_log
from trainway.engine.cluster.store import ClusterStore
from trainway.engine.costs.store import CostStore, keep_spent
from trainway.engine.database import file_of, place_of, transaction
from trainway.engine.job_filter import Filter
from trainway.engine.job_labels import insert_labels
from trainway.engine.job_query import ALL, SUMMARY, filtered, record_of
from trainway.engine.job_window import WindowStore
from trainway.engine.metrics.store import MetricStore
from trainway.engine.notify import outbox
from trainway.engine.notify.outbox import NewNotice
from trainway.engine.overview import OverviewStore
from trainway.engine.phase_counts import PhaseCounts
from trainway.engine.phases import ACTIVE, TERMINAL, Phase
from trainway.engine.queues.store import QueueStore
from trainway.engine.record import Event, JobRecord, JobSpec, storable, stored
from trainway.engine.rental.store import RentalStore
from trainway.engine.run.record import RunRecord
from trainway.engine.run.replacement import give_place_back, replacement, take_place
from trainway.engine.run.store import RunStore, delete_empty, insert_run
from trainway.engine.schedule.store import ScheduleStore
from trainway.engine.storage.store import StorageStore
from trainway.engine.tables import (
    CLUSTERS,
    EVENTS,
    JOBS,
    LABELS,
    RUNS,
    SCHEDULES,
    SPECS,
    WORKER_POOLS,
    WORKERS,
)
from trainway.engine.worker_pool.store import WorkerPoolStore
from trainway.errors import NotFoundError
from trainway.json_types import Json

Changes = Mapping[str, object]
"""New values of columns, JSON as plain data."""


@dataclass(frozen=True)
class JobChange:
    """New values of a job's columns, and what happened."""

    job_id: str
    columns: Changes
    events: Sequence[Event] = ()
    notices: Sequence[NewNotice] = ()
    """What is to be told to somebody."""
    spec: JobSpec | None = None
    """What the job is made from now; None: that stays."""


class Store:
    """The jobs, what they were made from, and what happened to them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._phase_counts = PhaseCounts(engine)
        self.clusters = ClusterStore(engine)
        self.costs = CostStore(engine)
        self.metrics = MetricStore(engine)
        self.outbox = outbox.Outbox(engine)
        self.overview = OverviewStore(engine)
        self.queues = QueueStore(engine)
        self.rentals = RentalStore(engine)
        self.runs = RunStore(engine)
        self.schedules = ScheduleStore(engine)
        self.storage = StorageStore(engine)
        self.windows = WindowStore(engine)
        self.worker_pools = WorkerPoolStore(engine)

    @property
    def kind(self) -> str:
        """Which database it is: `sqlite` or `postgresql`."""
        return self._engine.dialect.name

    @property
    def place(self) -> str:
        """The database as its owner knows it: a file, or a URL without its password."""
        return place_of(self._engine)

    @property
    def file(self) -> Path | None:
        """The file of the database, where it is one."""
        return file_of(self._engine)

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    def add(self, job: JobRecord, spec: JobSpec, events: Sequence[Event] = ()) -> bool:
        """Keep a new job; False if there is one with its key already."""
        return self.add_all([(job, spec, events)])

    def add_all(
        self,
        jobs: Sequence[tuple[JobRecord, JobSpec, Sequence[Event]]],
        run: RunRecord | None = None,
    ) -> bool:
        """Keep new jobs and their run, all or none.

        False if there is one with the key of one of them already.
        """
        with self._phase_counts.noting() as noted, transaction(self._engine) as connection:
            keys = [job.idempotency_key for job, _, _ in jobs if job.idempotency_key]
            if any(_with_key(connection, key) for key in keys):
                return False
            if run is not None and run.id == jobs[0][0].id:  # else it is there already
                insert_run(connection, run)
            for job, spec, events in jobs:
                row = {field.name: storable(getattr(job, field.name)) for field in fields(job)}
                connection.execute(insert(JOBS).values(row))
                noted.added(job.phase)
                connection.execute(insert(SPECS).values(job_id=job.id, **_stored_spec(spec)))
                insert_labels(connection, job)
                event_log.append(connection, job.id, events)
                for replaced in take_place(connection, job):
                    event_log.append(connection, replaced, [replacement(job)])
        return True

    def with_key(self, key: str) -> JobRecord | None:
        """The job that a request with that key made."""
        with self._engine.connect() as connection:
            row = _with_key(connection, key)
        return None if row is None else record_of(row)

    def update(self, job_id: str, changes: Changes, events: Sequence[Event] = ()) -> None:
        """Change a job and note what happened, both or neither."""
        self.update_all([JobChange(job_id, changes, events)])

    def update_all(self, changes: Sequence[JobChange], *, is_durable: bool = True) -> None:
        """Change jobs and note what happened, all or nothing; see `transaction`."""
        with (
            self._phase_counts.noting() as noted,
            transaction(self._engine, is_durable=is_durable) as connection,
        ):
            for change in changes:
                values = stored(change.columns)
                noted.changes(connection, change.job_id, values.get("phase"))
                if values:
                    query = update(JOBS).where(JOBS.c.id == change.job_id)
                    connection.execute(query.values(values))
                if change.spec is not None:
                    spec = {name: json.dumps(part) for name, part in asdict(change.spec).items()}
                    made_from = update(SPECS).where(SPECS.c.job_id == change.job_id)
                    connection.execute(made_from.values(spec))
                event_log.append(connection, change.job_id, change.events)
                outbox.append(connection, change.job_id, change.notices)

    def has(self, job_id: str) -> bool:
        """Whether there is a job with that id."""
        query = select(JOBS.c.id).where(JOBS.c.id == job_id)
        with self._engine.connect() as connection:
            return connection.execute(query).first() is not None

    def get(self, ref: str) -> JobRecord:
        """The job with that id, or the newest one of that name."""
        query = select(*ALL).where(or_(JOBS.c.id == ref, JOBS.c.name == ref))
        with self._engine.connect() as connection:
            row = connection.execute(
                query.order_by((JOBS.c.id == ref).desc(), JOBS.c.id.desc()).limit(1)
            ).first()
        if row is None:
            raise NotFoundError(
                f"there is no job {ref!r}", hint="trainway jobs list shows them all"
            )
        return record_of(row)

    def spec(self, job_id: str) -> JobSpec:
        """What a job was made from."""
        columns = (SPECS.c.objects, SPECS.c.environ, SPECS.c.jobset, SPECS.c.companions)
        with self._engine.connect() as connection:
            row = connection.execute(select(*columns).where(SPECS.c.job_id == job_id)).one()
        return JobSpec(*map(json.loads, row))

    def objects(self, job_ids: Collection[str]) -> dict[str, list[Json]]:
        """The objects that jobs were made from."""
        query = select(SPECS.c.job_id, SPECS.c.objects).where(SPECS.c.job_id.in_(job_ids))
        with self._engine.connect() as connection:
            return {job_id: json.loads(text) for job_id, text in connection.execute(query)}

    def page(self, wanted: Filter, limit: int, *, summary: bool = False) -> list[JobRecord]:
        """Jobs, newest first; a summary leaves out what was observed of their pods."""
        query = filtered(select(*(SUMMARY if summary else ALL)), wanted)
        query = query.order_by(JOBS.c.id.desc()).limit(limit)
        with self._engine.connect() as connection:
            return [record_of(row) for row in connection.execute(query)]

    def ids(self) -> list[str]:
        """The ids of all jobs."""
        with self._engine.connect() as connection:
            return list(connection.execute(select(JOBS.c.id)).scalars())

    def newest_id(self) -> str:
        """The last of all ids, of whatever has one; empty: there is none."""
        tables = (JOBS, RUNS, CLUSTERS, WORKER_POOLS, WORKERS, SCHEDULES)
        with self._engine.connect() as connection:
            found = [connection.execute(select(func.max(each.c.id))).scalar() for each in tables]
        return max((each for each in found if each), default="")

    def unfinished(self) -> list[JobRecord]:
        """Every job that is not over, oldest first."""
        phases = sorted(set(Phase) - TERMINAL)
        query = select(*ALL).where(JOBS.c.phase.in_(phases)).order_by(JOBS.c.id)
        with self._engine.connect() as connection:
            return [record_of(row) for row in connection.execute(query)]

    def exporting(self) -> list[JobRecord]:
        """Jobs that have succeeded and say where their output goes, oldest first."""
        is_meant = JOBS.c.export.is_not(None) & (JOBS.c.phase == Phase.SUCCEEDED)
        query = select(*ALL).where(is_meant).order_by(JOBS.c.id)
        with self._engine.connect() as connection:
            return [record_of(row) for row in connection.execute(query)]

    def expiring(self) -> list[JobRecord]:
        """Jobs that are over and have yet to be cleaned up, the first to go first."""
        query = select(*ALL).where(JOBS.c.expires.is_not(None)).order_by(JOBS.c.expires)
        with self._engine.connect() as connection:
            return [record_of(row) for row in connection.execute(query)]

    def prepare_anew(self, job_id: str, jobset: Json, companions: list[Json], handle: Json) -> None:
        """Replace what a job was compiled to."""
        compiled = {"jobset": json.dumps(jobset), "companions": json.dumps(companions)}
        with transaction(self._engine) as connection:
            connection.execute(update(SPECS).where(SPECS.c.job_id == job_id).values(compiled))
            connection.execute(
                update(JOBS).where(JOBS.c.id == job_id).values(stored({"handle": handle}))
            )

    def delete(self, job_id: str) -> None:
        """Forget a job."""
        with self._phase_counts.noting() as noted, transaction(self._engine) as connection:
            self.metrics.forget(connection, job_id)
            known = select(JOBS.c.run, JOBS.c.phase).where(JOBS.c.id == job_id)
            run, phase = connection.execute(known).first() or (None, "")
            noted.deleted(phase)
            keep_spent(connection, job_id)
            connection.execute(delete(LABELS).where(LABELS.c.job_id == job_id))
            connection.execute(delete(EVENTS).where(EVENTS.c.job_id == job_id))
            connection.execute(delete(SPECS).where(SPECS.c.job_id == job_id))
            if run is not None:
                give_place_back(connection, run, job_id)
            connection.execute(delete(JOBS).where(JOBS.c.id == job_id))
            if run is not None:
                delete_empty(connection, run)

    def events(self, job_id: str, after: int = 0) -> list[Event]:
        """What happened to a job after the event of that number."""
        names = [field.name for field in fields(Event)]
        query = (
            select(*(EVENTS.c[name] for name in names))
            .where(EVENTS.c.job_id == job_id, EVENTS.c.seq > after)
            .order_by(EVENTS.c.seq)
        )
        with self._engine.connect() as connection:
            return [Event(*row) for row in connection.execute(query)]

    def phase_counts(self) -> dict[str, int]:
        """How many jobs are in each phase that has any."""
        return self._phase_counts.read()

    def counts(self) -> tuple[int, int]:
        """How many jobs are active, and how many there are in all."""
        active = select(func.count()).where(JOBS.c.phase.in_(sorted(ACTIVE)))
        with self._engine.connect() as connection:
            total = connection.execute(select(func.count()).select_from(JOBS)).scalar_one()
            return connection.execute(active).scalar_one(), total


def _with_key(connection: Connection, key: str) -> Row[Any] | None:
    return connection.execute(select(*ALL).where(JOBS.c.idempotency_key == key)).first()


def _stored_spec(spec: JobSpec) -> dict[str, str]:
    return {
        "objects": json.dumps(spec.objects),
        "environ": json.dumps(dict(spec.environ)),
        "jobset": json.dumps(spec.jobset),
        "companions": json.dumps(spec.companions),
    }
