"""A job as it comes to a place: what is stored of it there, and how a cloud gets to house it."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from trainway.backends.base import Backend
from trainway.engine.attempt_runs import stopped
from trainway.engine.attempts import with_preemption
from trainway.engine.moving.candidates import candidates_of
from trainway.engine.moving.failover import failover_of, with_place
from trainway.engine.moving.move import Candidate, Step
from trainway.engine.moving.recovered_job import RecoveredJob
from trainway.engine.observation import ENDINGS, NODES, RUNS
from trainway.engine.record import JobRecord, JobSpec
from trainway.engine.submission import Submission, budget_of
from trainway.engine.worker_pool.rented_place import is_on_spot, place_again
from trainway.jobset.labels import WORKER_POOL
from trainway.json_types import Json

House: TypeAlias = Callable[[Submission], AbstractAsyncContextManager[Submission]]
"""Gives a job that is for a cloud machines of its own, which go again if it is not stored."""


@dataclass(frozen=True)
class Arrival:
    """A job as it is stored with the place that it comes to."""

    backend: Backend
    port: int
    columns: Mapping[str, Any]
    spec: JobSpec
    planned: Json
    """What is known of its pods if it begins anew."""


def submission_at(record: JobRecord, at: Candidate) -> Submission:
    """A job as it would be submitted to a place."""
    return Submission(
        at.objects,
        backend=at.backend,
        kubeconfig=at.kubeconfig,
        priority=record.priority,
        oversubscribe=record.oversubscribe,
        labels=record.label_map,
        workdir=record.workdir,
        use_spot=is_on_spot(record.label_map),
        max_cost=budget_of(record),
    )


def at_house(record: JobRecord, at: Candidate, found: Submission) -> tuple[JobRecord, Candidate]:
    """A job as it comes to where it was housed; on a cloud its labels say where that is."""
    if found.backend == at.backend:
        return record, at
    labels = {**found.labels, WORKER_POOL: found.backend.partition("/")[2]}
    return record.with_columns({"labels": labels}), replace(at, backend=found.backend)


def remembered(live: RecoveredJob, planned: Json | None, taken: str) -> dict[str, Any]:
    """What a job that may be recovered keeps as it comes to a place, where it begins anew.

    `taken`: why the machines of its last attempt were taken from it.
    """
    found = failover_of(live.record)
    if found is not None:
        found = replace(found, since=live.now())
        if (to := _reached(live)) is not None:
            found = found.joined(to)
    if planned is None:
        return {} if found is None else {"recovery": found.text()}
    observed = live.record.observed_data
    endings, runs = list(observed.get(ENDINGS) or ()), list(observed.get(RUNS) or ())
    if taken and live.record.started:
        told = {"message": taken, "time": live.now()}
        hosts = [str(each.get("host")) for each in (observed.get(NODES) or {}).values()]
        endings = with_preemption(endings, live.record.attempt, runs, hosts, told)
    stopped(runs, live.now())
    kept: Json = {RUNS: runs} if runs else {}
    if found is None:
        kept |= {ENDINGS: endings} if endings else {}
        return {"observed": {**planned, **kept}}
    with_place(endings, live.record.backend)
    return {"recovery": found.remembering(endings).text(), "observed": {**planned, **kept}}


def left_to_try(live: RecoveredJob) -> dict[str, Any]:
    """The places that a job may still go to while it waits, other than where it comes to."""
    found, to = candidates_of(live.record), _reached(live)
    if found is None:
        return {}
    rest = [each for each in found.rest if to is None or each.backend != to.backend]
    return {"candidates": replace(found, rest=rest, since=live.now()).text()}


def _reached(live: RecoveredJob) -> Candidate | None:
    """The job for the place that it has gone to; None: it stays, or comes back."""
    move = live.move
    if move is None or move.step is not Step.LEAVING or move.to.backend == move.back.backend:
        return None
    return move.to


def rented_again(record: JobRecord, backend: str) -> str:
    """Where a job comes back to: to its cloud, unless its deadline keeps the pool."""
    found = failover_of(record)
    is_kept = found is not None and found.promise is not None and found.promise.rents
    return backend if is_kept else place_again(backend, record.label_map)
