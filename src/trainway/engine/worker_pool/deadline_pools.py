"""The two pools of jobs with a deadline on a cloud: spot machines, and the same on demand.

To the policy of deadlines they are two places, one cheap and one sure. A pool without a job has no
workers, so only the one costs something that a job is at. Where the job may go to places of its
owner too, these and the cloud are the places, and there is one pool. Several clouds are one place:
each of both pools takes the cheapest machines of all of them. Pure.
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
from trainway.families.clouds import ANY
from trainway.families.table import family_of

_SURE: Final = "sure"
_SPOT: Final = "use_spot"
_SEVERAL: Final = ("any_of", "ordered")
"""Where resources have several candidates."""
_PLACE: Final = ("infra", "cloud", "region", "zone")
"""Where resources say which cloud."""


def pools_for(submission: Submission, name: str, jobs: int, machines: Machines) -> list[NewPool]:
    """The pools on whose workers a submission runs, the one where it begins first."""
    pool = pool_for(submission, name, jobs, machines)
    if submission.deadline is None or submission.candidates:
        return [pool]
    if not _is_spot(pool.resources):
        raise UsageError(
            "a deadline on a cloud chooses between spot machines and the same on demand",
            field="options.deadline",
            hint="add --use-spot, or use_spot: true to the resources of the task",
        )
    sure = replace(pool, name=f"{name}-{_SURE}", resources=_on_demand(pool.resources))
    return [replace(each, insists=True) for each in (pool, sure)]


def in_one(submission: Submission) -> tuple[Submission, list[str]]:
    """A submission with a deadline for several clouds as one for any cloud, and which are meant.

    Its pools choose among them; elsewhere the places are what is chosen between.
    """
    places = [submission.backend, *(str(each["backend"]) for each in submission.candidates)]
    is_one = len(places) == 1 or not all(family_of(place).rents for place in places)
    if submission.deadline is None or is_one:
        return submission, []
    return replace(submission, backend=ANY, candidates=(), sure=""), places


def among(machines: Machines, places: Sequence[str]) -> Machines:
    """Machines of these clouds only; all of them where none is named."""
    if not places or ANY in places:
        return machines
    if any(machines.resources.get(key) for key in _SEVERAL):
        raise UsageError(
            "a deadline is kept on one cloud if the task has any_of or ordered",
            field="options.deadline",
            hint="write --on cloud --use-spot, which chooses between all clouds by itself",
        )
    kept = {key: value for key, value in machines.resources.items() if key not in _PLACE}
    return replace(machines, resources={**kept, "any_of": [{"infra": place} for place in places]})


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
