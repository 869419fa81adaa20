"""The machines of a job group on a cloud: one for each node of each task, and all alike. Pure.

They are rented together, so they are in one network, and the tasks reach each other as anywhere
else. What a cloud rents at a time is of one kind: it has what the largest node needs, and what the
tasks say beside that must not differ.
"""

from typing import Any, Final

from trainway.engine.worker_pool.machines import Machines
from trainway.errors import UsageError
from trainway.json_types import Json

_AMOUNTS: Final = ("cpus", "memory", "accelerators", "gpus")
"""Of which the largest counts."""
_OF_THE_JOB: Final = ("infra", "cloud", "region", "zone", "autostop", "job_recovery")
"""What says where the group runs, which is decided for all of it, or nothing of machines."""
_SEVERAL: Final = ("any_of", "ordered")


def machines_of_group(job: Json, largest: Machines) -> Machines:
    """Machines for the tasks of a group, of which the largest needs so much."""
    tasks = [item["task"] for item in job["spec"]["tasks"]]
    told: dict[str, tuple[str, Any]] = {}
    kinds: list[tuple[str, str]] = []
    for number, task in enumerate(tasks, 1):
        name, wanted = str(task.get("name") or f"task {number}"), task.get("resources") or {}
        for key, value in wanted.items():
            if key in _SEVERAL:
                raise UsageError(
                    f"{name}: the machines of a job group on a cloud are all alike, so no task"
                    f" has {key}",
                    hint="write the resources of one kind of machine",
                )
            if key not in (*_AMOUNTS, *_OF_THE_JOB):
                _check_alike(key, told.setdefault(key, (name, value)), (name, value))
        if kind := _kind(wanted):
            kinds.append((name, kind))
            _check_alike("accelerators", kinds[0], (name, kind))
    alike = {key: value for key, (_, value) in told.items()}
    return Machines(largest.nodes, {**largest.resources, **alike})


def _kind(resources: Json) -> str:
    """The type of GPU that a task names; empty: none."""
    wanted = resources.get("accelerators") or resources.get("gpus") or ""
    first = next(iter(wanted), "") if isinstance(wanted, dict | list) else wanted
    return str(first).partition(":")[0]


def _check_alike(key: str, one: tuple[str, Any], other: tuple[str, Any]) -> None:
    if one[1] != other[1]:
        raise UsageError(
            f"the machines of a job group on a cloud are all alike, but {key} of {one[0]} is"
            f" {one[1]}, and of {other[0]} it is {other[1]}",
            hint="write the same for both, or run the tasks as jobs of their own",
        )
