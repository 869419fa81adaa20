"""What to do about the JobSet of an MPIJob that has not ended.

A JobSet that runs takes no change but `suspend`. While it is suspended its pod templates may
change, in place where `jobset_change` says so.
"""

from enum import Enum

from trainway.jobset.status import conditions_of, find_true
from trainway.json_types import Json


class Step(Enum):
    """What to do."""

    NOTHING = "nothing"
    CREATE = "create"
    SUSPEND = "suspend"
    UPDATE = "update"
    """Bring the templates up to date, and resume if that is wanted."""
    WAIT = "wait"
    """It is being deleted; the next one comes when it is gone."""


def next_step(jobset: Json | None, *, suspend: bool, changed: bool) -> Step:
    """Choose. `changed`: the templates are not known to be those that were last applied."""
    if jobset is None:
        return Step.CREATE
    if "deletionTimestamp" in jobset["metadata"]:
        return Step.WAIT
    if is_over(jobset):
        return Step.NOTHING
    suspended = is_suspended(jobset)
    if suspend and not suspended:
        return Step.SUSPEND
    if suspended and (changed or not suspend):
        return Step.UPDATE
    return Step.NOTHING


def is_over(jobset: Json) -> bool:
    """Whether the JobSet has completed or failed."""
    return any(find_true(conditions_of(jobset), end) for end in ("Completed", "Failed"))


def is_suspended(jobset: Json) -> bool:
    """Whether the JobSet is told to hold its Jobs."""
    return bool((jobset.get("spec") or {}).get("suspend"))
