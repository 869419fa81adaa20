"""GPU-hours, CPU-hours and money: what jobs requested, times the time in which they ran. Pure.

What they cost follows from their rates (`costs.rate`); where nobody has said a price, no money is
told of.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

from trainway.engine.attempt_runs import Runs, seconds_of
from trainway.engine.costs.cost import Cost, Piece, by_attempt, pieces, shown, total
from trainway.engine.costs.rate import Rate, rates_of
from trainway.engine.costs.spent_job import SpentJob
from trainway.families.builtin import HELD
from trainway.jobset.labels import ACCOUNT, USER
from trainway.jobset.quantity import Quantity
from trainway.jobset.status import moment
from trainway.json_types import Json

_HOUR_S: Final = 3600.0
_DIGITS: Final = 9
"""Of hours as they are shown: a thousandth of a second of a hundredth of a CPU counts."""


MOST_JOBS: Final = 1_000
"""How many jobs are told of one by one, the dearest; all of them count in the sum."""


class Grouping(StrEnum):
    """By what hours are added up."""

    USER = "user"
    LABEL = "label"
    BACKEND = "backend"
    DAY = "day"
    JOB = "job"
    ATTEMPT = "attempt"
    CLUSTER = "cluster"


@dataclass(frozen=True)
class Rates:
    """What a job uses while it runs."""

    gpus: int = 0
    cpus: float = 0.0

    @classmethod
    def of(cls, demand: Mapping[str, Any]) -> "Rates":
        """As its demand says; what was not requested counts nothing."""
        thousandths = Quantity.parse(demand.get("cpus") or "0") * 1000
        return cls(int(demand.get("gpus") or 0), thousandths.ceil() / 1000)


@dataclass(frozen=True)
class UsedJob:
    """What adding up needs of a job."""

    labels: Mapping[str, str]
    backend: str
    rates: Rates
    runs: Runs
    until: str
    """Its end, or now."""
    costs: Sequence[Rate] = ()
    """What it costs for each hour, and since when; empty: nobody has said."""
    id: str = ""
    name: str = ""
    title: str = ""
    """What it goes by, if not by its name."""

    @property
    def is_cluster(self) -> bool:
        """Whether it is a cluster, which costs what no job of it does."""
        return bool(self.costs) and self.backend == f"{HELD}/{self.name}"


@dataclass
class Hours:
    """A sum."""

    gpu: float = 0.0
    cpu: float = 0.0
    jobs: int = 0
    cost: Cost | None = None
    """None: nothing of it has a price."""

    def spend(self, cost: Cost) -> None:
        """Add what somebody had to pay."""
        self.cost = cost if self.cost is None else self.cost + cost

    def add(self, rates: Rates, seconds: float) -> None:
        """Add what somebody used for so long."""
        self.gpu += rates.gpus * seconds / _HOUR_S
        self.cpu += rates.cpus * seconds / _HOUR_S

    def to_dict(self) -> Json:
        """As the API shows it."""
        hours = {"gpuHours": round(self.gpu, _DIGITS), "cpuHours": round(self.cpu, _DIGITS)}
        return hours | ({} if self.cost is None else cost_view(self.cost))


def cost_view(cost: Cost) -> Json:
    """Money as the API shows it; what was saved only where the same is dearer on demand."""
    saved = shown(cost.saved)
    return {"cost": shown(cost.spent), **({"saved": saved} if saved else {})}


def requests_view(demand: Mapping[str, Any]) -> Json:
    """What all nodes of a job request together; 0: nothing."""
    rates = Rates.of(demand)
    memory = Quantity.parse(demand.get("memory") or "0").ceil()
    return {"cpus": rates.cpus, "memory": memory, "gpus": rates.gpus}


def usage_view(rates: Rates, runs: Runs, finished: str, costs: Sequence[Rate] = ()) -> Json:
    """What a job has used, in all and in each attempt.

    What runs at the moment is not in the sums, so that they change only when the job does: it has
    run since `runningSince`, and uses so many `gpus` and `cpus`. What it costs is in the sums until
    `costSince`, and is so much for an hour from then on.
    """
    sums, attempts = Hours(), dict[int, tuple[Hours, list[float]]]()
    more: Json = {}
    for run in runs:
        hours, spans = attempts.setdefault(run["attempt"], (Hours(), []))
        if not finished and "end" not in run:
            more = {"runningSince": run["start"], "gpus": rates.gpus, "cpus": rates.cpus}
            continue
        seconds = seconds_of(run, finished)
        hours.add(rates, seconds)
        spans.append(seconds)
        sums.add(rates, seconds)
    if costs:
        more |= _spend(sums, attempts, costs, runs, finished)
    told = [
        {"attempt": attempt, "seconds": round(sum(spans), 3), **hours.to_dict()}
        for attempt, (hours, spans) in sorted(attempts.items())
    ]
    return {**sums.to_dict(), "attempts": told, **more}


def _spend(
    sums: Hours,
    attempts: dict[int, tuple[Hours, list[float]]],
    costs: Sequence[Rate],
    runs: Runs,
    finished: str,
) -> Json:
    """Add what a job has cost to its sums; what is said of the time that is not in them."""
    last = costs[-1]
    is_running = bool(runs) and "end" not in runs[-1]
    counts = not finished and (last.is_rented or is_running)
    until = max(last.since, runs[-1]["start"], key=moment) if is_running else last.since
    ended = until if counts else finished or (runs[-1]["end"] if runs else last.since)
    found = pieces(costs, runs, ended)
    sums.spend(total(found))
    for attempt, cost in by_attempt(found).items():
        attempts.setdefault(attempt, (Hours(), []))[0].spend(cost)
    return {"costSince": until, "pricePerHour": shown(last.hourly)} if counts else {}


@dataclass
class UsageReport:
    """Adds up what jobs used, one after the other."""

    by: Grouping | None = None
    key: str = ""
    """The label, for a grouping by label."""
    since: str = ""
    total: Hours = field(default_factory=Hours)
    groups: dict[str, Hours] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    """Of the jobs, where each is a group, or each attempt of it."""
    _owners: dict[str, UsedJob] = field(default_factory=dict)
    """The jobs for which machines may have been rented, by their accounts."""

    def add(self, jobs: Iterable[UsedJob]) -> None:
        """Count jobs that have not been counted, and machines after the jobs they were had for."""
        for used in jobs:
            job = self._owned(used)
            spans = [(group, seconds) for group, seconds in self._spans(job) if seconds > 0]
            for group, seconds in spans:
                self.groups.setdefault(group, Hours()).add(job.rates, seconds)
                self.total.add(job.rates, seconds)
            costs = [(group, cost) for group, cost in self._costs(job) if cost is not None]
            for group, cost in costs:
                self.groups.setdefault(group, Hours()).spend(cost)
                self.total.spend(cost)
            found = {group for group, _ in (*spans, *costs)}
            for group in found:
                self.groups[group].jobs += not job.is_cluster
                name = f"cluster {job.name}" if job.is_cluster else job.name
                self._names[group] = job.title or name
            self.total.jobs += bool(found) and not job.is_cluster

    def _owned(self, used: UsedJob) -> UsedJob:
        """Machines that were rented for one job alone go by its name, where jobs are told apart."""
        account = used.labels.get(ACCOUNT, "")
        if not account or self.by is not Grouping.JOB:
            return used
        if not used.backend.startswith(f"{HELD}/"):
            self._owners.setdefault(account, used)
        owner = self._owners.get(account) if used.is_cluster else None
        return used if owner is None else replace(used, id=owner.id, title=owner.name)

    def to_dict(self) -> Json:
        """As the API shows it: the days in order, of everything else the largest users first."""
        groups = sorted(self.groups.items())
        if self.by is not Grouping.DAY:
            groups.sort(key=lambda item: _size(item[1]), reverse=True)
        items = [
            {**self._named(group), "jobs": sum_.jobs, **sum_.to_dict()} for group, sum_ in groups
        ]
        is_long = self.by in (Grouping.JOB, Grouping.ATTEMPT) and len(items) > MOST_JOBS
        return {
            "items": items[:MOST_JOBS] if is_long else items if self.by else [],
            **({"leftOut": len(items) - MOST_JOBS} if is_long else {}),
            "total": {"jobs": self.total.jobs, **self.total.to_dict()},
        }

    def _named(self, group: str) -> Json:
        """What a group is called; a job by its name, which several may have, and its id."""
        if self.by is Grouping.JOB:
            return {"name": self._names[group], "id": group}
        if self.by is Grouping.ATTEMPT:
            job_id, attempt = group.split("/")
            return {"name": self._names[group], "id": job_id, "attempt": int(attempt)}
        return {"name": group}

    def _spans(self, job: UsedJob) -> Iterable[tuple[str, float]]:
        for run in job.runs:
            if self.by is Grouping.DAY:
                yield from _by_day(run, job.until, self.since)
            else:
                seconds = seconds_of(run, job.until, self.since)
                yield self._group(job, run["attempt"]), seconds

    def _costs(self, job: UsedJob) -> Iterable[tuple[str, Cost | None]]:
        """What each of its pieces cost; None: it is before the time that counts."""
        since = moment(self.since).astimezone(UTC) if self.since else None
        for piece in pieces(job.costs, job.runs, job.until):
            if self.by is Grouping.DAY:
                for day, start, end in piece.days():
                    yield day, _after(piece, since, start, end)
            else:
                yield self._group(job, piece.attempt), _after(piece, since)

    def _group(self, job: UsedJob, attempt: int) -> str:
        match self.by:
            case Grouping.JOB:
                return job.id
            case Grouping.ATTEMPT:
                return f"{job.id}/{attempt}"
            case Grouping.BACKEND:
                return job.backend
            case Grouping.CLUSTER:
                family, _, name = job.backend.partition("/")
                return name if family == HELD else ""
            case Grouping.USER:
                return job.labels.get(USER, "")
            case Grouping.LABEL:
                return job.labels.get(self.key, "")
            case _:
                return ""


def used_before(job: SpentJob) -> UsedJob:
    """A job that is deleted, as one that counts all the same."""
    return UsedJob(
        labels=json.loads(job.labels),
        backend=job.backend,
        rates=Rates.of(json.loads(job.demand) if job.demand else {}),
        runs=json.loads(job.runs),
        until=job.finished,
        costs=rates_of(job.rates),
        id=job.job_id,
        name=job.name,
    )


def _after(
    piece: Piece,
    since: datetime | None,
    start: datetime | None = None,
    end: datetime | None = None,
) -> Cost | None:
    """What a piece cost between two moments and not before another; None: it was over by then."""
    first = max(filter(None, (since, start, piece.start)))
    if first >= min(filter(None, (end, piece.end))):
        return None
    return piece.cost(first, end)


def _size(hours: Hours) -> tuple[Decimal, float, float]:
    """By what the largest come first: money, then GPUs, then CPUs."""
    return (hours.cost or Cost()).spent, hours.gpu, hours.cpu


def _by_day(run: Json, until: str, since: str) -> Iterable[tuple[str, float]]:
    """The parts of a span in each day of UTC."""
    if "seconds" in run:
        yield moment(run["start"]).astimezone(UTC).date().isoformat(), seconds_of(run, until, since)
        return
    start, end = (moment(text).astimezone(UTC) for text in (run["start"], run.get("end") or until))
    if since:
        start = max(start, moment(since).astimezone(UTC))
    while start < end:
        midnight = datetime(start.year, start.month, start.day, tzinfo=UTC) + timedelta(days=1)
        yield start.date().isoformat(), (min(end, midnight) - start).total_seconds()
        start = midnight
