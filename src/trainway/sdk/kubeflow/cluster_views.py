"""OptimizationJobs and TrainJobs of a cluster as the types of the kubeflow SDK. Pure."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime

from trainway.jobset.labels import OPTIMIZATION_JOB, PARAMETERS
from trainway.jobset.status import conditions_of, find_true
from trainway.json_types import Json
from trainway.optimization.names import index_of
from trainway.sdk.kubeflow import search_views, views
from trainway.sdk.kubeflow.types.optimizer import Metric, OptimizationJob, Result, Trial
from trainway.sdk.kubeflow.types.types import Event, TrainJob
from trainway.sdk.manifests import TRAINER_API


def manifest(job: Json, search: Json, namespace: str) -> Json:
    """The OptimizationJob whose trials are like that TrainJob."""
    return {
        "apiVersion": TRAINER_API,
        "kind": "OptimizationJob",
        "metadata": {"name": job["metadata"]["name"], "namespace": namespace},
        "spec": {**search["spec"], "trainJobTemplate": {"spec": job["spec"]}},
    }


def optimization_job(search: Json, trainjobs: Iterable[Json]) -> OptimizationJob:
    """A search with its trials, which are among those TrainJobs."""
    spec = search["spec"]
    phase = {views.COMPLETE: "Succeeded", views.FAILED: "Failed"}.get(_status(search), "Running")
    run = {
        "metadata": search["metadata"],
        "search": {"spec": spec, "trials": spec.get("numTrials") or 1},
        "status": {"phase": phase},
    }
    return search_views.optimization_job(run, trials_of(search, trainjobs))


def trials_of(search: Json, trainjobs: Iterable[Json]) -> list[Trial]:
    """The trials of a search, in their order."""
    uid, name = search["metadata"].get("uid"), search["metadata"]["name"]
    own = [
        job
        for job in trainjobs
        if (job["metadata"].get("labels") or {}).get(OPTIMIZATION_JOB) == name
        and any(ref.get("uid") == uid for ref in job["metadata"].get("ownerReferences") or ())
    ]
    return [
        Trial(job["metadata"]["name"], parameters_of(job), train_job_of(job), metrics_of(job))
        for job in sorted(own, key=lambda job: index_of(job) or 0)
    ]


def parameters_of(job: Json) -> dict[str, str]:
    """The values of a trial; none where somebody has spoilt the annotation."""
    try:
        found = json.loads((job["metadata"].get("annotations") or {})[PARAMETERS])
    except (LookupError, ValueError):
        return {}
    return (
        {str(name): str(value) for name, value in found.items()} if isinstance(found, dict) else {}
    )


def metrics_of(job: Json) -> list[Metric]:
    """What a trial reported last, which is all that a cluster keeps."""
    reported = ((job.get("status") or {}).get("trainerStatus") or {}).get("metrics") or ()
    return [
        Metric(str(item["name"]), *(str(item["value"]),) * 3)
        for item in reported
        if "name" in item and "value" in item
    ]


def train_job_of(job: Json) -> TrainJob:
    """A trial, without its pods."""
    spec = job["spec"]
    runtime = views.unknown_runtime((spec.get("runtimeRef") or {}).get("name") or "")
    return TrainJob(
        name=job["metadata"]["name"],
        runtime=runtime,
        steps=[],
        num_nodes=(spec.get("trainer") or {}).get("numNodes") or 1,
        creation_timestamp=_time(job["metadata"]["creationTimestamp"]),
        status=_status(job),
    )


def result_of(search: Json, trainjobs: Sequence[Json]) -> Result | None:
    """The best trial, as the status of a search names it."""
    found = (search.get("status") or {}).get("result")
    if not found:
        return None
    named = [job for job in trainjobs if job["metadata"]["name"] == found.get("trainJobName")]
    parameters = {item["name"]: item["value"] for item in found.get("parameters") or ()}
    return Result(parameters, metrics_of(named[0]) if named else [])


def event_of(event: Json) -> Event:
    """Something that happened."""
    involved, metadata = event["involvedObject"], event["metadata"]
    moments = (event.get("eventTime"), event.get("lastTimestamp"), event.get("firstTimestamp"))
    return Event(
        involved_object_kind=str(involved.get("kind") or ""),
        involved_object_name=str(involved.get("name") or ""),
        message=str(event.get("message") or ""),
        reason=str(event.get("reason") or ""),
        event_time=_time(next(filter(None, moments), metadata["creationTimestamp"])),
    )


def _status(obj: Json) -> str:
    conditions = conditions_of(obj)
    for name in (views.COMPLETE, views.FAILED):
        if find_true(conditions, name):
            return name
    roles = (obj.get("status") or {}).get("jobsStatus") or ()
    return views.RUNNING if any(role.get("active") for role in roles) else views.CREATED


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
