"""Pods of a TrainJob or MPIJob that its Jobs could not make: a quota, a rule, a webhook. Pure.

Only the Job has an event of it, two objects below. The author looks at the TrainJob or MPIJob, so
the reason is told there too, once.
"""

import re
from collections.abc import Container, Iterable
from typing import Final

from trainway.json_types import Json
from trainway.kube.webhook_failure import webhook_failure

REASON: Final = "FailedCreate"
FIELD_SELECTOR: Final = f"reason={REASON},involvedObject.kind=Job"
"""Which events say that a Job could not make a pod."""

_POD: Final = re.compile(r'^(Error creating: )?(pods "[^"]*" is )?')
_KEPT: Final = ("name", "namespace", "resourceVersion", "uid")


def kept_event(event: Json) -> Json:
    """An event without what nobody asks for."""
    metadata = {name: event["metadata"][name] for name in _KEPT if name in event["metadata"]}
    about = {"name": event["involvedObject"]["name"]}
    return {"metadata": metadata, "involvedObject": about, "message": event.get("message") or ""}


def candidates(event: Json) -> list[str]:
    """The keys of jobs whose Job it may be about, the longest name first.

    A Job is called `<job>-<role>-<number>`, and each of these may have dashes.
    """
    parts = str(event["involvedObject"]["name"]).split("-")
    namespace = event["metadata"]["namespace"]
    return [f"{namespace}/{'-'.join(parts[:end])}" for end in range(len(parts) - 2, 0, -1)]


def job_names(jobset: Json) -> set[str]:
    """The names of the Jobs of a JobSet."""
    name = jobset["metadata"]["name"]
    return {
        f"{name}-{role['name']}-{number}"
        for role in (jobset.get("spec") or {}).get("replicatedJobs") or []
        for number in range(role.get("replicas", 1))
    }


def about(events: Iterable[Json], jobs: Container[str]) -> list[Json]:
    """The events about some Jobs, whatever else has a name that begins alike."""
    return [event for event in events if event["involvedObject"]["name"] in jobs]


def complaints(events: Iterable[Json]) -> list[str]:
    """What the events say, each once, without the names of pods that were never made."""
    return list(dict.fromkeys(_complaint(event) for event in events))


def _complaint(event: Json) -> str:
    text = str(event["message"])
    failure = webhook_failure(text)
    said = failure.message if failure else _POD.sub("", " ".join(text.split()))
    return f"Job {event['involvedObject']['name']} cannot create its pods: {said}"
