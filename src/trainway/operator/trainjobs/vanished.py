"""How a JobSet ended that is no longer there.

A JobSet with `ttlSecondsAfterFinished` may complete and go while no operator looks. The TrainJob
then looks as if its JobSet had been deleted in the middle, and would run a second time. JobSet's
own events outlive it by an hour; they say how it ended, in the words of its conditions.
"""

import logging
from typing import Final

from trainway.jobset.status import moment
from trainway.json_types import Json
from trainway.kube.client import Client
from trainway.kube.errors import ApiError
from trainway.kube.resources import EVENTS

logger = logging.getLogger(__name__)


_ENDS: Final = {
    "AllJobsCompleted": "Completed",
    "FailedJobs": "Failed",
    "ReachedMaxRestarts": "Failed",
    "FailJobSetFailurePolicyAction": "Failed",
}


async def jobset_end(client: Client, job: Json) -> Json | None:
    """The last state of the TrainJob's JobSet, if events tell that it had ended."""
    metadata = job["metadata"]
    selector = f"involvedObject.kind=JobSet,involvedObject.name={metadata['name']}"
    try:
        listing = await client.list(EVENTS, metadata["namespace"], field_selector=selector)
    except ApiError as error:
        logger.info("events of JobSet %s cannot be read: %s", metadata["name"], error)
        return None
    return ended_jobset(job, listing.items)


def ended_jobset(job: Json, events: list[Json]) -> Json | None:
    """A JobSet with the end that the latest of the events tells; None: they tell of none."""
    created = moment(job["metadata"]["creationTimestamp"])
    ends = [
        (time, event)
        for event in events
        if event.get("reason") in _ENDS
        and (time := event.get("lastTimestamp") or event.get("eventTime"))
        and moment(time) > created
    ]
    if not ends:
        return None
    time, event = max(ends, key=lambda end: moment(end[0]))
    condition = {
        "type": _ENDS[event["reason"]],
        "status": "True",
        "reason": event["reason"],
        "message": event.get("message") or event.get("note") or "",
        "lastTransitionTime": _to_the_second(time),
    }
    listed = (job.get("status") or {}).get("jobsStatus") or []
    return {
        "metadata": {"deletionTimestamp": time},
        "spec": {"suspend": False},
        "status": {"conditions": [condition], "replicatedJobsStatus": listed},
    }


def _to_the_second(time: str) -> str:
    return moment(time).strftime("%Y-%m-%dT%H:%M:%SZ")
