"""What to do about the JobSet of an MPIJob that has not ended.

A JobSet that runs takes no change but `suspend`. While it is suspended its pod templates may get
labels, annotations, node selectors, tolerations and scheduling gates, as Kueue gives them when it
admits a job. JobSet adds those to the Jobs when it resumes them and takes none away, and MPI
Operator replaces them. So an update in place does only where nothing goes; for anything else the
JobSet is made anew, which stops nothing, since nothing runs.
"""

from enum import Enum
from typing import Any

from trainway.jobset.model import ReplicatedJob, replicated_jobs
from trainway.jobset.status import conditions_of, find_true

Json = dict[str, Any]

_MAPS = ("labels", "annotations")


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


def can_become(live: Json, wanted: Json) -> bool:
    """Whether a suspended JobSet can be updated so that its pods are those wanted."""
    roles = {role.name: role for role in replicated_jobs(live["spec"])}
    new_roles = {role.name: role for role in replicated_jobs(wanted["spec"])}
    return roles.keys() == new_roles.keys() and all(
        _only_adds(role, new_roles[name]) for name, role in roles.items()
    )


def _only_adds(role: ReplicatedJob, new: ReplicatedJob) -> bool:
    if role.job_spec.get("completions") != new.job_spec.get("completions"):
        return False
    metadata, new_metadata = (each.pod.data.get("metadata") or {} for each in (role, new))
    maps = [(metadata.get(name), new_metadata.get(name)) for name in _MAPS]
    spec, new_spec = role.pod.spec, new.pod.spec
    maps.append((spec.get("nodeSelector"), new_spec.get("nodeSelector")))
    lists = [
        (spec.get(name) or [], new_spec.get(name) or [])
        for name in ("tolerations", "schedulingGates")
    ]
    return all((old or {}).keys() <= (more or {}).keys() for old, more in maps) and all(
        item in more for old, more in lists for item in old
    )
