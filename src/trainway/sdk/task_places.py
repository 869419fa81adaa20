"""The places that a task names itself: `infra`, and the lists `any_of` and `ordered`. Pure.

A candidate that names a place of ours, such as `infra: slurm/hpc`, or a cloud on which machines can
be rented, is one that the task may go to; other clouds are left out. Each place gets the task with
the candidate that is for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from trainway.api.task.infra import Infra
from trainway.api.task.resources import Candidate
from trainway.api.task.task import Task, read
from trainway.api.task.task_file import TaskFile
from trainway.errors import InvalidError
from trainway.families.builtin import BUILTIN, HELD, PODS
from trainway.families.clouds import CLOUDS
from trainway.families.table import family_of

_KUBERNETES: Final = "kubernetes"
"""As tasks call what we call by the name of its family."""


@dataclass(frozen=True)
class TaskPlaces:
    """Where a task says that it may run."""

    names: Sequence[str] = ()
    is_ordered: bool = False

    @property
    def on(self) -> str | None:
        """The places as `--on` has them; None: it names none."""
        return ",".join(self.names) or None


def place_of(infra: Infra) -> str:
    """The place that an infra means; empty: it is none of ours."""
    family = PODS if infra.cloud == _KUBERNETES else infra.cloud or ""
    if family in CLOUDS:
        region = infra.region or (infra.zone and "*")
        return "/".join(part for part in (family, region, infra.zone) if part)
    if family not in BUILTIN or family == HELD:
        return ""
    return "/".join(part for part in (family, infra.region, infra.zone) if part)


def task_places(tasks: Sequence[Task]) -> TaskPlaces:
    """The places of a file with one task; several tasks name none for all of them."""
    if len(tasks) != 1:
        return TaskPlaces()
    resources = tasks[0].resources
    named = [place_of(candidate.infra) for candidate in resources.candidates]
    return TaskPlaces(tuple(dict.fromkeys(filter(None, named))), resources.is_ordered)


def for_place(file: TaskFile, on: str | None) -> TaskFile:
    """The file as it is for a place: of several candidates the first that names it counts.

    On a cloud all that name it do whose nodes are as large, since pods ask for what the first one
    has; the cheapest machines are rented.
    """
    if on is None:
        return file
    return replace(file, tasks=tuple(_for_place(task, on) for task in file.tasks))


def _for_place(task: Task, on: str) -> Task:
    candidates = task.resources.candidates
    fitting = [each for each in candidates if place_of(each.infra) == on]
    fitting += [each for each in candidates if each.infra == Infra()]
    if len(candidates) == 1 or not fitting:
        return task
    resources = fitting[0].to_dict()
    alike = [each for each in fitting if _amounts(each) == _amounts(fitting[0])]
    if len(alike) > 1 and family_of(on).rents:
        how = "ordered" if task.resources.is_ordered else "any_of"
        resources = {how: [each.to_dict() for each in alike]}
    found = read({**task.to_dict(), "resources": resources})
    if found.task is None:
        raise InvalidError([str(error) for error in found.errors])
    return found.task


def _amounts(candidate: Candidate) -> tuple[object, ...]:
    """What pods request of a node."""
    accelerator = candidate.accelerator
    count = accelerator.count if accelerator is not None else 0
    return count, candidate.cpus, candidate.memory
