"""GPU-hours and CPU-hours: what a job requested, times the time in which its attempts ran. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from trainway.engine.attempt_runs import Runs, seconds_of
from trainway.jobset.labels import USER
from trainway.jobset.quantity import Quantity
from trainway.jobset.status import moment
from trainway.json_types import Json

_HOUR_S: Final = 3600.0
_DIGITS: Final = 9
"""Of hours as they are shown: a thousandth of a second of a hundredth of a CPU counts."""


class Grouping(StrEnum):
    """By what hours are added up."""

    USER = "user"
    LABEL = "label"
    BACKEND = "backend"
    DAY = "day"


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


@dataclass
class Hours:
    """A sum."""

    gpu: float = 0.0
    cpu: float = 0.0
    jobs: int = 0

    def add(self, rates: Rates, seconds: float) -> None:
        """Add what somebody used for so long."""
        self.gpu += rates.gpus * seconds / _HOUR_S
        self.cpu += rates.cpus * seconds / _HOUR_S

    def to_dict(self) -> Json:
        """As the API shows it."""
        return {"gpuHours": round(self.gpu, _DIGITS), "cpuHours": round(self.cpu, _DIGITS)}


def requests_view(demand: Mapping[str, Any]) -> Json:
    """What all nodes of a job request together; 0: nothing."""
    rates = Rates.of(demand)
    memory = Quantity.parse(demand.get("memory") or "0").ceil()
    return {"cpus": rates.cpus, "memory": memory, "gpus": rates.gpus}


def usage_view(rates: Rates, runs: Runs, finished: str) -> Json:
    """What a job has used, in all and in each attempt.

    What runs at the moment is not in the sums, so that they change only when the job does: it has
    run since `runningSince`, and uses so many `gpus` and `cpus`.
    """
    total, attempts = Hours(), dict[int, tuple[Hours, list[float]]]()
    shown: Json = {}
    for run in runs:
        hours, spans = attempts.setdefault(run["attempt"], (Hours(), []))
        if not finished and "end" not in run:
            shown = {"runningSince": run["start"], "gpus": rates.gpus, "cpus": rates.cpus}
            continue
        seconds = seconds_of(run, finished)
        hours.add(rates, seconds)
        spans.append(seconds)
        total.add(rates, seconds)
    told = [
        {"attempt": attempt, "seconds": round(sum(spans), 3), **hours.to_dict()}
        for attempt, (hours, spans) in sorted(attempts.items())
    ]
    return {**total.to_dict(), "attempts": told, **shown}


@dataclass
class UsageReport:
    """Adds up what jobs used, one after the other."""

    by: Grouping | None = None
    key: str = ""
    """The label, for a grouping by label."""
    since: str = ""
    total: Hours = field(default_factory=Hours)
    groups: dict[str, Hours] = field(default_factory=dict)

    def add(self, jobs: Iterable[UsedJob]) -> None:
        """Count jobs that have not been counted."""
        for job in jobs:
            spans = [(group, seconds) for group, seconds in self._spans(job) if seconds > 0]
            for group, seconds in spans:
                self.groups.setdefault(group, Hours()).add(job.rates, seconds)
                self.total.add(job.rates, seconds)
            for group in {group for group, _ in spans}:
                self.groups[group].jobs += 1
            self.total.jobs += bool(spans)

    def to_dict(self) -> Json:
        """As the API shows it: the days in order, of everything else the largest users first."""
        groups = sorted(self.groups.items())
        if self.by is not Grouping.DAY:
            groups.sort(key=lambda item: (-item[1].gpu, -item[1].cpu))
        items = [{"name": name, "jobs": sum_.jobs, **sum_.to_dict()} for name, sum_ in groups]
        return {
            "items": items if self.by else [],
            "total": {"jobs": self.total.jobs, **self.total.to_dict()},
        }

    def _spans(self, job: UsedJob) -> Iterable[tuple[str, float]]:
        for run in job.runs:
            if self.by is Grouping.DAY:
                yield from _by_day(run, job.until, self.since)
            else:
                yield self._group(job), seconds_of(run, job.until, self.since)

    def _group(self, job: UsedJob) -> str:
        match self.by:
            case Grouping.BACKEND:
                return job.backend
            case Grouping.USER:
                return job.labels.get(USER, "")
            case Grouping.LABEL:
                return job.labels.get(self.key, "")
            case _:
                return ""


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
