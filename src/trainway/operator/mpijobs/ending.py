"""What is cleaned up when an MPIJob has ended, and when.

No worker outlives its launcher: JobSet stops what still runs when it is over. An MPIJob that an
earlier operator ended before its JobSet has it suspended, which stops all pods too. So
`cleanPodPolicy` decides only about pods that ended by themselves: All removes workers'.

`ttlSecondsAfterFinished` removes what ran, as it does upstream; the annotation
`trainway.dev/ttl-seconds-after-finished` removes the MPIJob itself.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from trainway.api.mpijob import MPIJob
from trainway.jobset.labels import TTL_SECONDS
from trainway.jobset.status import moment
from trainway.json_types import Json
from trainway.operator.mpijobs.jobset_step import is_over, is_suspended
from trainway.operator.mpijobs.roles import Roles, finished_workers
from trainway.operator.trainjobs.annotations import seconds


@dataclass(frozen=True, slots=True)
class Cleanup:
    """What is to be done for a job that has ended."""

    suspend_jobset: bool = False
    delete_pods: tuple[str, ...] = ()
    """The names of the pods to delete."""
    delete_pod_group: bool = False
    delete_jobset: bool = False
    delete_job: bool = False
    look_again: float | None = None
    """The seconds until there is more to do; None means never."""


def cleanup(obj: Json, job: MPIJob, jobset: Json | None, roles: Roles, now: datetime) -> Cleanup:
    """What to do now for a job that has ended; `obj` is the job as it is stored."""
    policy = job.spec.run_policy
    ended = moment(obj["status"]["completionTime"])
    ttl = policy.ttl_seconds_after_finished
    left = _seconds_left(None if ttl is None else timedelta(seconds=ttl), ended, now)
    own_left = _seconds_left(seconds(obj, TTL_SECONDS).duration, ended, now)
    if own_left is not None and own_left <= 0:
        return Cleanup(delete_job=True)
    there = jobset is not None and "deletionTimestamp" not in jobset["metadata"]
    expired = there and left is not None and left <= 0
    to_come = [time for time in (left if there else None, own_left) if time and time > 0]
    runs = jobset is not None and there and not (is_over(jobset) or is_suspended(jobset))
    pods = finished_workers(roles) if policy.clean_pod_policy == "All" else []
    return Cleanup(
        suspend_jobset=runs and not expired,
        delete_pods=tuple(pod["metadata"]["name"] for pod in pods),
        delete_pod_group=policy.clean_pod_policy in ("All", "Running"),
        delete_jobset=expired,
        look_again=min(to_come, default=None),
    )


def _seconds_left(ttl: timedelta | None, ended: datetime, now: datetime) -> float | None:
    return None if ttl is None else (ended + ttl - now).total_seconds()
