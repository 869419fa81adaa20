"""Whether a suspended JobSet can be changed so that its pods become those wanted.

While a JobSet is suspended its pod templates may get labels, annotations, node selectors,
tolerations and scheduling gates, as Kueue gives them when it admits a job. JobSet adds those to the
Jobs when it resumes them and takes none away: a job that was preempted and is admitted elsewhere
would keep the selectors of where it was. So an update in place does only where nothing goes; for
anything else the JobSet is made anew, which stops nothing, since nothing runs.
"""

from trainway.jobset.model import ReplicatedJob, replicated_jobs
from trainway.json_types import Json

_MAPS = ("labels", "annotations")


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
