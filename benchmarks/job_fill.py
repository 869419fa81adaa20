"""Fills a store with as many jobs as are wanted, made of one that ran.

They differ in what lists are filtered and sorted by: names, phases, backends, kinds, users, labels,
times and metrics, and some of them belong to runs. All of them are over, so that no server has
anything to do with them but to list them.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Final

from sqlalchemy import Connection, Engine, insert, select, text

from trainway.engine.ids import Ids
from trainway.engine.phases import Phase
from trainway.engine.tables import EVENTS, JOBS, LABELS, RUNS, SERIES, SPECS
from trainway.engine.times import time_text
from trainway.jobset.labels import USER

MODELS: Final = ("bert-base", "gpt-small", "resnet50", "llama-lora", "t5-large", "whisper", "vit-b")
USERS: Final = tuple(f"user-{number:02}" for number in range(20))
TEAMS: Final = ("nlp", "vision", "speech", "ranking", "robotics")
KINDS: Final = ("TrainJob", "TrainJob", "TrainJob", "JobSet", "MPIJob")
BACKENDS: Final = ("local", "local", "local", "ssh/lab", "slurm/main", "kubernetes/prod")
PHASES: Final = (Phase.SUCCEEDED,) * 8 + (Phase.FAILED, Phase.CANCELLED)
METRICS: Final = ("loss", "accuracy")
_DAYS: Final = 60
_RUN_EVERY, _RUN_SIZE = 100, 20
"""The last jobs of each hundred are those of a run."""
_BATCH: Final = 5_000


@dataclass(frozen=True)
class Template:
    """A job that ran, as the store has it."""

    job: Mapping[str, Any]
    spec: Mapping[str, Any]
    events: list[Mapping[str, Any]]


def template_of(engine: Engine) -> Template:
    """The newest job of a store."""
    with engine.connect() as connection:
        job = connection.execute(select(JOBS).order_by(JOBS.c.id.desc()).limit(1)).mappings().one()
        spec = connection.execute(select(SPECS).where(SPECS.c.job_id == job["id"])).mappings()
        events = connection.execute(select(EVENTS).where(EVENTS.c.job_id == job["id"])).mappings()
        return Template(dict(job), dict(spec.one()), [dict(event) for event in events])


def fill(engine: Engine, template: Template, count: int) -> None:
    """Add so many jobs, the last of them submitted just now."""
    jobs = _jobs(template, count)
    with engine.begin() as connection:
        while batch := list(islice(jobs, _BATCH)):
            _add(connection, template, batch)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        is_sqlite = engine.dialect.name == "sqlite"
        connection.execute(
            text("PRAGMA wal_checkpoint(TRUNCATE)" if is_sqlite else "VACUUM ANALYZE")
        )


def _add(connection: Connection, template: Template, jobs: list[dict[str, Any]]) -> None:
    runs = [_run(job) for job in jobs if job["run"] == job["id"]]
    labels = [
        {"job_id": job["id"], "key": key, "value": value, "run": job["run"] or ""}
        for job in jobs
        for key, value in json.loads(job["labels"]).items()
    ]
    series = [
        {"job_id": job["id"], "name": name, "points": 1_000, "last_seq": 1_000, "minimum": 0.0,
         "maximum": 9.0, "last": (int(job["name"][-6:]) * 7919 % 10_000) / 10_000,
         "run": job["run"] or ""}
        for job in jobs
        for name in METRICS
    ]  # fmt: skip
    if runs:
        connection.execute(insert(RUNS), runs)
    connection.execute(insert(JOBS), jobs)
    connection.execute(insert(LABELS), labels)
    connection.execute(insert(SERIES), series)
    connection.execute(insert(SPECS), [{**template.spec, "job_id": job["id"]} for job in jobs])
    events = [{**event, "job_id": job["id"]} for job in jobs for event in template.events]
    connection.execute(insert(EVENTS), events)


def _jobs(template: Template, count: int) -> Iterator[dict[str, Any]]:
    now = datetime.now(UTC)
    pace = timedelta(days=_DAYS) / count
    moment = now - pace * count
    ids = Ids(lambda: moment)
    run = ""
    for number in range(count):
        moment = now - pace * (count - 1 - number)
        job_id, place = ids.new(), number % _RUN_EVERY - (_RUN_EVERY - _RUN_SIZE)
        run = job_id if place == 0 else run
        labels = {USER: USERS[number * 7 % len(USERS)], "team": TEAMS[number % len(TEAMS)]}
        yield {
            **template.job,
            "id": job_id,
            "name": f"{MODELS[number * 5 % len(MODELS)]}-{number:06}",
            "kind": KINDS[number % len(KINDS)],
            "backend": BACKENDS[number * 11 % len(BACKENDS)],
            "phase": PHASES[number * 3 % len(PHASES)],
            "labels": json.dumps(labels),
            "created": time_text(moment),
            "started": time_text(moment + timedelta(seconds=number % 900)),
            "finished": time_text(moment + timedelta(seconds=1_000 + number % 3_000)),
            "priority": number % 3,
            "restarts": number % 4,
            "idempotency_key": None,
            "run": run if place >= 0 else None,
        }


def _run(job: Mapping[str, Any]) -> dict[str, Any]:
    said = {"id": job["id"], "name": job["name"], "backend": "local", "created": job["created"]}
    nothing = dict.fromkeys(("parallel", "search", "outcome", "template"))
    return {**nothing, **said, "size": _RUN_SIZE}
