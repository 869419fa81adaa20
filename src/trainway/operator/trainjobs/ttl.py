"""When a finished TrainJob is deleted. Upstream has no such thing; JobSet and Job have."""

from datetime import datetime, timedelta

from trainway.jobset.labels import TTL_SECONDS
from trainway.jobset.status import conditions_of, find_true, moment
from trainway.json_types import Json
from trainway.operator.trainjobs.annotations import seconds


def time_to_live(job: Json, now: datetime) -> timedelta | None:
    """How long the TrainJob still has, zero if it is to go now; None: it stays."""
    kept = seconds(job, TTL_SECONDS).duration
    finished = finish_time(job)
    if kept is None or finished is None:
        return None
    return max(finished + kept - now, timedelta())


def finish_time(job: Json) -> datetime | None:
    """When the TrainJob ended."""
    for type_ in ("Complete", "Failed"):
        end = find_true(conditions_of(job), type_)
        if end is not None and end.get("lastTransitionTime"):
            return moment(end["lastTransitionTime"])
    return None
