"""A job as the API shows it. Values of Secrets are never shown."""

from pathlib import PurePath
from typing import Final

from trainway.api.node_count import is_countable
from trainway.backends.masking import masked_object
from trainway.engine.attempts import endings_view
from trainway.engine.costs.budget import JobBudget
from trainway.engine.costs.rate import rates_of
from trainway.engine.export.export import export_view
from trainway.engine.failure import failure_view, is_retried
from trainway.engine.moving.candidates import candidates_view
from trainway.engine.moving.failover import failover_view, past_endings
from trainway.engine.moving.move import move_view
from trainway.engine.observation import ATTEMPTS, CULPRIT, ENDINGS, JOBSET, NODES, RUNS, WAITING
from trainway.engine.phases import WAITING as WAITING_PHASES
from trainway.engine.phases import Phase
from trainway.engine.record import Event, JobRecord
from trainway.engine.recovery.cause import Cause, cause_of, cause_of_end
from trainway.engine.submission import parted
from trainway.engine.usage import Rates, requests_view, usage_view
from trainway.engine.worker_pool.assignment import worker_of
from trainway.json_types import Json

API_VERSION: Final = "trainway.dev/v1"
KIND: Final = "Job"


def job_view(job: JobRecord, objects: list[Json] | None, position: int | None = None) -> Json:
    """The job in full; a summary where no objects are given."""
    spec: Json = {"kind": job.kind, "backend": job.backend, "priority": job.priority}
    spec["queue"] = job.queue
    if job.run:
        spec["run"] = job.run
    if job.replaced_by:
        spec["replacedBy"] = job.replaced_by
    if job.parameters:
        spec["parameters"] = job.parameter_map
    if job.demand_data:
        spec["requests"] = requests_view(job.demand_data)
    if objects is not None:
        spec |= {"objects": [masked_object(obj) for obj in objects], "workdir": job.workdir}
    remarks: Json = {"note": job.note} if job.note else {}
    if job.links:
        remarks["links"] = job.link_map
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {
            "id": job.id,
            "name": job.name,
            "namespace": job.namespace,
            "creationTimestamp": job.created,
            "labels": job.label_map,
            **remarks,
        },
        "spec": spec,
        "status": _status(job, position, is_full=objects is not None)
        | ({} if objects is None else {"scalable": _is_scalable(job, objects)}),
    }


def is_unstarted(job: JobRecord) -> bool:
    """Whether no backend was given the job, and none is about to be."""
    return job.devices == "" and job.phase in (*WAITING_PHASES, Phase.PAUSED)


def _is_scalable(job: JobRecord, objects: list[Json]) -> bool:
    """Whether the job can be given another number of nodes."""
    source, _ = parted(objects)
    return is_unstarted(job) and source is not None and is_countable(source)


def _status(job: JobRecord, position: int | None, *, is_full: bool) -> Json:
    status: Json = {
        "phase": job.phase,
        "reason": job.reason,
        "message": job.message,
        "startTime": job.started or None,
        "completionTime": job.finished or None,
        "attempt": job.attempt,
        "restarts": job.restarts,
        "exitCode": job.exit_code,
        "progress": job.progress_data or None,
    }
    if worker := worker_of(job):
        status["worker"] = worker
    if job.move and (move := move_view(job)):
        status["move"] = move
    if job.candidates and (others := candidates_view(job)):
        status["candidates"] = others
    if job.export:
        status["export"] = export_view(job)
    if budget := JobBudget.of(job.budget):
        status["budget"] = budget.view()
    if is_full:
        observed = job.observed_data
        if not job.is_over:  # what was refused has waited until then
            position = position or (observed.get(WAITING) or {}).get("position")
        folder = "" if job.is_expired else str(job.handle_data.get("directory") or "")
        nodes = list((observed.get(NODES) or {}).values())
        culprit = observed.get(CULPRIT) if job.phase == Phase.FAILED else None
        if culprit and not _says_more(job, culprit):
            status["failure"] = failure_view(culprit, nodes, observed.get(ATTEMPTS) or 1)
        if job.phase == Phase.FAILED:
            status["cause"] = cause_of_end(job.reason, culprit or {})
        if job.recovery and (recovery := failover_view(job)):
            status["recovery"] = recovery
        status |= {
            "endedAttempts": endings_view([*past_endings(job), *(observed.get(ENDINGS) or ())]),
            "nodes": nodes,
            "jobSet": observed.get(JOBSET) or {},
            "usage": usage_view(
                Rates.of(job.demand_data),
                observed.get(RUNS) or [],
                job.finished,
                rates_of(job.rates),
            ),
            "outputDir": str(PurePath(folder) / "output") if folder else None,
            "jobDir": folder or None,
        }
    if position is not None:
        status["queuePosition"] = position
    return status


def _says_more(job: JobRecord, culprit: Json) -> bool:
    """Whether the reason of a job says more than which node failed first."""
    if job.reason == "DeadlineExceeded":
        return is_retried(culprit)
    return job.reason == Cause.PREEMPTED and cause_of(culprit) is Cause.NODE_LOST


def event_view(event: Event) -> Json:
    """Something that happened to a job."""
    return {
        "seq": event.seq,
        "time": event.time,
        "type": event.type,
        "reason": event.reason,
        "message": event.message,
        "object": event.object,
    }
