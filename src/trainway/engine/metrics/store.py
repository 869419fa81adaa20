"""Where the history of metrics is kept: the points of each series, and its last and best values.

Reports of a job are numbered, so that a reader can go on after one. A series that comes to its
bound is thinned where it stands: points are deleted, none is written anew. All methods run in the
store's one thread, each is one transaction, and nobody else writes these tables; so what is known
of a series may be remembered between two of them.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

from sqlalchemy import Connection, Engine, bindparam, delete, insert, select, update

from trainway.engine.database import transaction
from trainway.engine.metrics.bulk import KEY, bulk_insert, bulk_update
from trainway.engine.metrics.downsampling import thinned
from trainway.engine.metrics.positions import forget_positions, store_positions, stored_position
from trainway.engine.metrics.report import NAME_LIMIT, Report
from trainway.engine.metrics.usage_series import is_system
from trainway.engine.record import storable, stored
from trainway.engine.tables import JOBS, POINTS, SERIES

K = TypeVar("K", int, str)

POINTS_LIMIT: Final = 10_000
"""The most points of a series."""
SERIES_LIMIT: Final = 200
"""The most series of a job, and as many of what it uses; values of further ones are not kept."""
_REMEMBERED_JOBS: Final = 500
_THINNED_EARLY: Final = 8
"""Series that may be thinned in one write before they must be."""
_VARIABLES: Final = 1_000
"""Of one statement."""
_COUNTED: Final = ("points", "last_seq", "last", "minimum", "maximum")


class Point(NamedTuple):
    """A value of a series."""

    seq: int
    """The number of the report in its job."""
    step: int | None
    epoch: float | None
    time: float
    value: float


@dataclass(frozen=True)
class Summary:
    """What comparing needs of a series."""

    last: float
    minimum: float
    maximum: float
    step: int | None
    """Of the last value."""


@dataclass(frozen=True)
class Range:
    """Which points of a series are wanted; None: no bound."""

    after: int | None = None
    """Only reports with a higher number."""
    min_step: int | None = None
    max_step: int | None = None
    min_time: float | None = None
    max_time: float | None = None


ALL: Final = Range()
NOTHING: Final[Mapping[str, Mapping[str, Any]]] = {}


@dataclass(slots=True)
class _Series:
    """A series as its row has it, or will have it."""

    id: int
    points: int
    last_seq: int
    last: float
    minimum: float
    maximum: float

    def row(self) -> dict[str, Any]:
        return {
            "points": self.points,
            "last_seq": self.last_seq,
            "last": self.last,
            "minimum": self.minimum,
            "maximum": self.maximum,
        }

    def add(self, seq: int, value: float) -> None:
        self.points += 1
        self.last_seq, self.last = seq, value
        if value < self.minimum:
            self.minimum = value
        elif value > self.maximum:
            self.maximum = value


class MetricStore:
    """The series of all jobs."""

    def __init__(
        self, engine: Engine, points_limit: int = POINTS_LIMIT, series_limit: int = SERIES_LIMIT
    ) -> None:
        self._engine = engine
        self._points_limit = points_limit
        self._series_limit = series_limit
        self._known: dict[str, dict[str, _Series]] = {}
        """The series of jobs that report, by id of the job and name."""
        self._count = bulk_update(SERIES, _COUNTED, engine.dialect)
        self._add_points = bulk_insert(POINTS, engine.dialect)
        self._newest: tuple[int, int] | None = None
        """Series and number of the last point of the newest write."""

    def append(
        self,
        reports: Sequence[tuple[str, Report]],
        columns: Mapping[str, Mapping[str, Any]] = NOTHING,
    ) -> None:
        """Keep reports of jobs, each with the id of its job; those of jobs that are gone go.

        `columns` are what changes with them of the jobs' records, by the ids of the jobs.
        """
        self._newest = None
        try:
            with transaction(self._engine, is_durable=False) as connection:
                self._load(connection, {job_id for job_id, _ in reports} - self._known.keys())
                self._add(connection, reports)
                _change_jobs(connection, columns)
                store_positions(connection, reports, self._known)
        except BaseException:
            self._known.clear()
            raise
        for job_id in list(islice(self._known, max(0, len(self._known) - _REMEMBERED_JOBS))):
            del self._known[job_id]

    def has_newest(self) -> bool:
        """Whether the newest write is stored, though it may have failed."""
        if self._newest is None:
            return False
        series_id, seq = self._newest
        query = select(SERIES.c.last_seq).where(SERIES.c.id == series_id)
        with self._engine.connect() as connection:
            return connection.execute(query).scalar() == seq

    def _load(self, connection: Connection, job_ids: Collection[str]) -> None:
        """Remember the series of these jobs, as far as there are such jobs."""
        if not job_ids:
            return
        for some in _portions(job_ids):
            there = connection.execute(select(JOBS.c.id).where(JOBS.c.id.in_(some))).scalars()
            self._known |= {job_id: {} for job_id in there}
            columns = (SERIES.c[name] for name in ("id", *_COUNTED))
            query = select(SERIES.c.job_id, SERIES.c.name, *columns)
            for job_id, name, *row in connection.execute(query.where(SERIES.c.job_id.in_(some))):
                self._known[job_id][name] = _Series(*row)

    def _add(self, connection: Connection, reports: Sequence[tuple[str, Report]]) -> None:
        self._make_series(connection, reports)
        rows: list[dict[str, object]] = []
        changed: dict[int, _Series] = {}
        for job_id, report in reports:
            known = self._known.get(job_id)
            if known is None:
                continue
            seq = 1 + max((series.last_seq for series in known.values()), default=0)
            for name, value in report.values.items():
                series = known.get(name) or known.get(_name(name))
                if series is None or series.last_seq >= seq:  # two names may be cut to one
                    continue
                series.add(seq, value)
                changed[series.id] = series
                self._newest = series.id, seq
                rows.append(
                    {
                        "series_id": series.id,
                        "seq": seq,
                        "step": report.step,
                        "epoch": report.epoch,
                        "time": report.time,
                        "value": value,
                    }
                )
        if rows:
            self._add_points.execute(connection, rows)
            self._thin(connection, changed.values())
            self._update(connection, changed.values())

    def _make_series(self, connection: Connection, reports: Sequence[tuple[str, Report]]) -> None:
        """Make the series that are reported for the first time, as far as there may be more."""
        made: dict[tuple[str, str], _Series] = {}
        for job_id, report in reports:
            known = self._known.get(job_id)
            if known is None:
                continue
            for name, value in report.values.items():
                if name in known or _name(name) in known or not self._has_room(known, name):
                    continue
                series = _Series(0, 0, 0, value, value, value)
                known[_name(name)] = made[job_id, _name(name)] = series
        if not made:
            return
        jobs = {job_id for job_id, _ in made}
        runs = _runs(connection, jobs)
        rows = [
            {"job_id": job_id, "name": name, "run": runs.get(job_id, ""), **series.row()}
            for (job_id, name), series in made.items()
        ]
        connection.execute(insert(SERIES), rows)
        columns = (SERIES.c.job_id, SERIES.c.name, SERIES.c.id)
        for some in _portions(jobs):
            query = select(*columns).where(SERIES.c.job_id.in_(some))
            for job_id, name, series_id in connection.execute(query):
                self._known[job_id][name].id = series_id

    def _has_room(self, known: Collection[str], name: str) -> bool:
        """Whether a job may have one more series; those of what it uses count by themselves."""
        if len(known) < self._series_limit:
            return True
        kind = is_system(name)
        return sum(is_system(other) == kind for other in known) < self._series_limit

    def _thin(self, connection: Connection, changed: Iterable[_Series]) -> None:
        """Keep series within their bound; not all of them in the same moment."""
        spread, early = max(1, self._points_limit // 10), _THINNED_EARLY
        for series in changed:
            is_due = series.points > self._points_limit - series.id * 37 % spread
            if series.points > self._points_limit or (is_due and early):
                early -= 0 if series.points > self._points_limit else 1
                series.points = self._halve(connection, series.id)

    def _halve(self, connection: Connection, series_id: int) -> int:
        points = _read(connection, series_id, ALL)
        kept = thinned(points, max(4, self._points_limit // 2))
        rest = {point.seq for point in points} - {point.seq for point in kept}
        for some in _portions(rest):
            connection.execute(
                delete(POINTS).where(POINTS.c.series_id == series_id, POINTS.c.seq.in_(some))
            )
        return len(kept)

    def _update(self, connection: Connection, changed: Iterable[_Series]) -> None:
        rows = [{KEY: series.id, **series.row()} for series in changed]
        self._count.execute(connection, rows)

    def position(self, job_id: str, source: str) -> str:
        """How far a source of a job was read; empty: not at all."""
        with self._engine.connect() as connection:
            return stored_position(connection, job_id, source)

    def names(self, job_id: str) -> list[str]:
        """The series of a job, in the order of their names."""
        query = select(SERIES.c.name).where(SERIES.c.job_id == job_id)
        with self._engine.connect() as connection:
            return sorted(connection.execute(query).scalars())

    def points(
        self, job_id: str, name: str, wanted: Range = ALL, most: int | None = None
    ) -> list[Point]:
        """Points of a series in the order of their reports, at most so many."""
        query = select(SERIES.c.id).where(SERIES.c.job_id == job_id, SERIES.c.name == name)
        with self._engine.connect() as connection:
            series_id = connection.execute(query).scalar()
            found = [] if series_id is None else _read(connection, series_id, wanted)
        return found if most is None else thinned(found, most)

    def after(self, job_id: str, seq: int, most: int) -> list[tuple[str, Point]]:
        """Points of all series of a job after a report; of that many reports at most."""
        columns = (POINTS.c[name] for name in Point._fields)
        query = (
            select(SERIES.c.name, *columns)
            .join(POINTS, POINTS.c.series_id == SERIES.c.id)
            .where(SERIES.c.job_id == job_id, POINTS.c.seq > seq)
            .order_by(POINTS.c.seq, SERIES.c.name)
            .limit(most * self._series_limit)
        )
        with self._engine.connect() as connection:
            rows = connection.execute(query).all()
        if len(rows) == most * self._series_limit:  # the last report may be cut in two
            rows = [row for row in rows if row.seq < rows[-1].seq]
        return [(name, Point(*row)) for name, *row in rows]

    def last_seq(self, job_id: str) -> int:
        """The number of the last report of a job; 0: there is none."""
        query = select(SERIES.c.last_seq).where(SERIES.c.job_id == job_id)
        with self._engine.connect() as connection:
            return max(connection.execute(query).scalars(), default=0)

    def summaries(self, job_ids: Collection[str]) -> dict[str, dict[str, Summary]]:
        """Last, smallest and largest value of every series of these jobs, by id and name."""
        values = (SERIES.c.last, SERIES.c.minimum, SERIES.c.maximum, POINTS.c.step)
        is_last = (POINTS.c.series_id == SERIES.c.id) & (POINTS.c.seq == SERIES.c.last_seq)
        query = select(SERIES.c.job_id, SERIES.c.name, *values).join(POINTS, is_last)
        found: dict[str, dict[str, Summary]] = {job_id: {} for job_id in job_ids}
        with self._engine.connect() as connection:
            for some in _portions(found):
                of_these = query.where(SERIES.c.job_id.in_(some)).order_by(SERIES.c.name)
                for job_id, name, *row in connection.execute(of_these):
                    found[job_id][name] = Summary(*row)
        return found

    def remove_one(self, job_id: str) -> bool:
        """Remove a series of a job; False: it has none. A whole history may be millions of rows."""
        self._known.pop(job_id, None)
        query = select(SERIES.c.id).where(SERIES.c.job_id == job_id).limit(1)
        with transaction(self._engine, is_durable=False) as connection:
            series_id = connection.execute(query).scalar()
            if series_id is None:
                return False
            connection.execute(delete(POINTS).where(POINTS.c.series_id == series_id))
            connection.execute(delete(SERIES).where(SERIES.c.id == series_id))
        return True

    def forget(self, connection: Connection, job_id: str) -> None:
        """Remove all of a job's, as a part of removing the job."""
        self._known.pop(job_id, None)
        of_job = select(SERIES.c.id).where(SERIES.c.job_id == job_id)
        connection.execute(delete(POINTS).where(POINTS.c.series_id.in_(of_job)))
        connection.execute(delete(SERIES).where(SERIES.c.job_id == job_id))
        forget_positions(connection, job_id)


def _runs(connection: Connection, job_ids: Collection[str]) -> dict[str, str]:
    """The runs of those of these jobs that have one."""
    query = select(JOBS.c.id, JOBS.c.run).where(JOBS.c.run.is_not(None))
    found: dict[str, str] = {}
    for some in _portions(job_ids):
        found |= {row[0]: row[1] for row in connection.execute(query.where(JOBS.c.id.in_(some)))}
    return found


def _portions(keys: Collection[K]) -> Iterator[list[K]]:
    """The keys in order, as many at a time as a statement may have."""
    ordered = sorted(keys)
    for start in range(0, len(ordered), _VARIABLES):
        yield ordered[start : start + _VARIABLES]


def _change_jobs(connection: Connection, columns: Mapping[str, Mapping[str, Any]]) -> None:
    """Change the rows of jobs; those with the same columns in one go."""
    alike: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for job_id, values in columns.items():
        alike.setdefault(tuple(sorted(values)), []).append({"row": job_id, **stored(values)})
    for names, rows in alike.items():
        query = update(JOBS).where(JOBS.c.id == bindparam("row"))
        connection.execute(query.values({name: bindparam(name) for name in names}), rows)


def _name(name: str) -> str:
    return str(storable(name))[:NAME_LIMIT]


def _read(connection: Connection, series_id: int, wanted: Range) -> list[Point]:
    query = (
        select(*(POINTS.c[name] for name in Point._fields))
        .where(POINTS.c.series_id == series_id)
        .order_by(POINTS.c.seq)
    )
    if wanted.after is not None:
        query = query.where(POINTS.c.seq > wanted.after)
    for column, least, largest in (
        (POINTS.c.step, wanted.min_step, wanted.max_step),
        (POINTS.c.time, wanted.min_time, wanted.max_time),
    ):
        query = query if least is None else query.where(column >= least)
        query = query if largest is None else query.where(column <= largest)
    return list(map(Point._make, connection.execute(query).all()))
