"""The two pools of jobs with a deadline on a cloud: spot machines, and the same on demand.

To the policy of deadlines they are two places, one cheap and one sure. A pool without a job has no
workers, so only the one costs something that a job is at. Where the job may go to places of its
owner too, these and the cloud are the places, and there is one pool. Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from trainway.engine.record import JobRecord
from trainway.engine.submission import Submission
from trainway.engine.worker_pool.job_pool import pool_for
from trainway.engine.worker_pool.machines import Machines
from trainway.engine.worker_pool.request import NewPool
from trainway.errors import UsageError
from trainway.families.table import family_of

_SURE: Final = "sure"
_SPOT: Final = "use_spot"
_SEVERAL: Final = ("any_of", "ordered")
"""Where resources have several candidates."""


def pools_for(submission: Submission, name: str, jobs: int, machines: Machines) -> list[NewPool]:
    """The pools on whose workers a submission runs, the one where it begins first."""
    pool = pool_for(submission, name, jobs, machines)
    others = [str(each["backend"]) for each in submission.candidates]
    if submission.deadline is None:
        return [pool]
    if others and all(family_of(place).rents for place in others):
        raise UsageError(
            "a deadline is kept on one cloud, by its spot machines and the same on demand",
            field="options.deadline",
            hint="write --on cloud --use-spot, which chooses between all clouds by itself",
        )
    if others:
        return [pool]
    if not _is_spot(pool.resources):
        raise UsageError(
            "a deadline on a cloud chooses between spot machines and the same on demand",
            field="options.deadline",
            hint="add --use-spot, or use_spot: true to the resources of the task",
        )
    sure = replace(pool, name=f"{name}-{_SURE}", resources=_on_demand(pool.resources))
    return [replace(each, insists=True) for each in (pool, sure)]


def at_pools(submission: Submission, backends: Sequence[str]) -> Submission:
    """A submission for the backends of its pools."""
    first, *others = backends
    if not others:
        return replace(submission, backend=first)
    place = {"objects": submission.objects, "environ": dict(submission.environ)}
    candidates = [{"backend": each, **place} for each in others]
    return replace(submission, backend=first, candidates=candidates, sure=others[-1])


def may_be_at(record: JobRecord, backend: str) -> bool:
    """Whether a job is at a pool, or may come to it."""
    return record.backend == backend or f'"{backend}"' in (record.recovery or "")


def _is_spot(resources: Mapping[str, Any]) -> bool:
    """Whether spot machines may be taken for any candidate."""
    each = [resources, *(one for key in _SEVERAL for one in resources.get(key) or ())]
    return any(one.get(_SPOT) for one in each)


def _on_demand(resources: Mapping[str, Any]) -> dict[str, Any]:
    """The same machines, which nobody takes back."""
    several = {
        key: [{**one, _SPOT: False} for one in resources[key]]
        for key in _SEVERAL
        if resources.get(key)
    }
    return {**resources, **several, _SPOT: False}
