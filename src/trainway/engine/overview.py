"""How things stand in all: numbers that would take reading every job otherwise."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Connection, Engine, func, select

from trainway.engine.job_query import ALL, record_of
from trainway.engine.phases import LIVE, TERMINAL, WAITING, Phase
from trainway.engine.record import JobRecord
from trainway.engine.tables import JOBS
from trainway.engine.usage import Rates
from trainway.json_types import Json

_MOST: Final = 5
"""How many jobs are named."""
_HOUR: Final = len("2026-11-17T09")
"""So many characters of a time say its hour."""
SUBMITTED: Final = "submitted"


@dataclass
class BackendLoad:
    """What jobs do on a backend."""

    running: int = 0
    waiting: int = 0
    gpus: int = 0
    cpus: float = 0.0

    def to_dict(self) -> Json:
        """As the API shows it."""
        return {
            "running": self.running,
            "waiting": self.waiting,
            "gpus": self.gpus,
            "cpus": round(self.cpus, 3),
        }


@dataclass
class QueuedJobs:
    """What jobs do on a backend, and who waits there."""

    load: BackendLoad
    first: Sequence[JobRecord] = ()
    """The first that wait: those of high priority before others, then by age."""


@dataclass(frozen=True)
class Overview:
    """How things stand."""

    phases: dict[str, int]
    """How many jobs are in which phase."""
    hours: dict[str, dict[str, int]]
    """By hour, how many jobs were submitted, and how many ended in which phase."""
    backends: dict[str, BackendLoad] = field(default_factory=dict)
    failures: Sequence[JobRecord] = ()
    """Those that failed last, the newest first."""
    waiting: Sequence[JobRecord] = ()
    """Those that wait longest, the oldest first."""


class OverviewStore:
    """Adds up."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def read(self, since: str, since_id: str) -> Overview:
        """How things stand, and what happened since a time, of which an id is given too."""
        phase = JOBS.c.phase
        created, finished = func.substr(JOBS.c.created, 1, _HOUR), JOBS.c.finished
        ended = func.substr(finished, 1, _HOUR)
        count = func.count()
        with self._engine.connect() as connection:
            phases = _pairs(connection.execute(select(phase, count).group_by(phase)))
            submitted = select(created, count).where(JOBS.c.id > since_id).group_by(created)
            over = select(ended, phase, count).where(phase.in_(sorted(TERMINAL)), finished >= since)
            hours: dict[str, dict[str, int]] = {}
            for hour, number in connection.execute(submitted):
                hours.setdefault(hour, {})[SUBMITTED] = number
            for hour, name, number in connection.execute(over.group_by(ended, phase)):
                hours.setdefault(hour, {})[name] = number
            loads = _loads(connection)
            failed = select(*ALL).where(phase == Phase.FAILED).order_by(finished.desc())
            longest = select(*ALL).where(phase.in_(sorted(WAITING))).order_by(JOBS.c.id)
            return Overview(
                phases,
                hours,
                loads,
                [record_of(row) for row in connection.execute(failed.limit(_MOST))],
                [record_of(row) for row in connection.execute(longest.limit(_MOST))],
            )

    def queues(self, most: int) -> dict[str, QueuedJobs]:
        """What jobs do on each backend, and the first that wait there, in their order."""
        phase, backend = JOBS.c.phase, JOBS.c.backend
        with self._engine.connect() as connection:
            found = {name: QueuedJobs(load) for name, load in _loads(connection).items()}
            waiting = select(*ALL).where(phase.in_(sorted(WAITING)))
            waiting = waiting.order_by(JOBS.c.priority.desc(), JOBS.c.id).limit(most)
            for name, queue in found.items():
                if queue.load.waiting:
                    rows = connection.execute(waiting.where(backend == name))
                    queue.first = [record_of(row) for row in rows]
        return found


def _loads(connection: Connection) -> dict[str, BackendLoad]:
    phase, backend = JOBS.c.phase, JOBS.c.backend
    loads: dict[str, BackendLoad] = {}
    live = select(backend, JOBS.c.demand).where(phase.in_(sorted(LIVE)))
    for name, demand in connection.execute(live):
        _add(loads.setdefault(name, BackendLoad()), demand)
    waiting = select(backend, func.count()).where(phase.in_(sorted(WAITING))).group_by(backend)
    for name, number in connection.execute(waiting):
        loads.setdefault(name, BackendLoad()).waiting = number
    return loads


def _pairs(rows: Iterable[Any]) -> dict[str, int]:
    return {str(name): int(number) for name, number in rows}


def _add(load: BackendLoad, demand: str) -> None:
    rates = Rates.of(json.loads(demand) if demand else {})
    load.running += 1
    load.gpus += rates.gpus
    load.cpus += rates.cpus
