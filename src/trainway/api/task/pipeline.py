"""The tasks of a pipeline: which comes after which, and whose output they read.

Without any `depends_on` each task comes after the one before it, as in SkyPilot. With one, in
whichever task, a task comes after those that it names, and those that name none begin at once.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from trainway.api.task.task import Task
from trainway.schema.field import (
    FieldError,
    Path,
    duplicate,
    forbidden,
    invalid,
    key_step,
)
from trainway.schema.validation import closest

_REFERENCE: Final = re.compile(r"\$\{tasks\.([a-zA-Z0-9._-]+)\.output\}", re.ASCII)
_FIELD: Final = "depends_on"


def titles(tasks: Sequence[Task]) -> list[str]:
    """What the tasks are called in `depends_on` and in messages, no two the same.

    One without a name is called after its rank, and so is one whose name another has: SkyPilot
    lets tasks share a name as long as nothing refers to them.
    """
    names: list[str] = []
    for rank, task in enumerate(tasks):
        name = task.name or f"task-{rank}"
        while name in names:
            name = f"{name}-{rank}"
        names.append(name)
    return names


def dependencies(tasks: Sequence[Task]) -> dict[str, tuple[str, ...]]:
    """For each task those that must have succeeded before it starts, in the order of the file."""
    names = titles(tasks)
    if all(task.depends_on is None for task in tasks):
        return {name: tuple(names[max(rank - 1, 0) : rank]) for rank, name in enumerate(names)}
    pairs = zip(names, tasks, strict=True)
    return {name: tuple(dict.fromkeys(task.depends_on or ())) for name, task in pairs}


def before(after: Mapping[str, Sequence[str]], name: str) -> set[str]:
    """All tasks that must have succeeded before one starts, also by way of others."""
    found: set[str] = set()
    left = [name]
    while left:
        for other in after.get(left.pop(), ()):
            if other not in found:
                found.add(other)
                left.append(other)
    return found


def errors(tasks: Sequence[Task]) -> Iterator[tuple[int, FieldError]]:
    """What is wrong between the tasks of a pipeline, each with the rank of the task."""
    found = [*_shared_names(tasks)]
    names = titles(tasks)
    found += [
        (rank, error)
        for rank, task in enumerate(tasks)
        for error in _unknown(task.depends_on or (), names)
    ]
    yield from found
    if found:
        return
    after = dependencies(tasks)
    circle = _circle(after)
    if circle:
        rank = names.index(circle[0])
        shown = " -> ".join(circle)
        detail = f"the tasks wait for each other: {shown}; remove one of these"
        yield rank, invalid((_FIELD,), list(after[circle[0]]), detail)
        return
    for rank, task in enumerate(tasks):
        for path, name in references(task):
            yield from ((rank, error) for error in _unread(path, name, names[rank], after))


def _shared_names(tasks: Sequence[Task]) -> Iterator[tuple[int, FieldError]]:
    """Names that could be meant for two tasks, where any is."""
    if not any(task.depends_on is not None or any(references(task)) for task in tasks):
        return
    names: set[str] = set()
    for rank, task in enumerate(tasks):
        if task.name in names:
            yield rank, duplicate(("name",), task.name)
        names |= {task.name} - {""}


def group_errors(tasks: Sequence[Task]) -> Iterator[tuple[int, FieldError]]:
    """What a job group cannot have, whose tasks start together."""
    for rank, task in enumerate(tasks):
        if task.depends_on is not None:
            yield rank, forbidden((_FIELD,), "the tasks of a job group start together")
        for path, name in references(task):
            detail = f"{name} runs at the same time, and has no output before it ends"
            yield rank, forbidden(path, detail)


def references(task: Task) -> Iterator[tuple[Path, str]]:
    """The tasks whose output a task reads, and where it says so."""
    texts: list[tuple[Path, str]] = [
        (("envs", key_step(name)), text) for name, text in task.envs.items()
    ]
    texts += [(("setup",), task.setup), (("run",), task.run)]
    for path, text in texts:
        yield from ((path, name) for name in dict.fromkeys(_REFERENCE.findall(text)))


def reading(task: Task, outputs: Mapping[str, str]) -> Task:
    """The task with the directories of outputs in it; one that is not known stays as it is."""

    def replaced(text: str) -> str:
        return _REFERENCE.sub(lambda match: outputs.get(match[1], match[0]), text)

    data = dict(task.data)
    for section in ("setup", "run"):
        if data.get(section):
            data[section] = replaced(data[section])
    if data.get("envs"):
        data["envs"] = {name: replaced(text) for name, text in data["envs"].items()}
    return replace(task, data=data)


def _unknown(named: Sequence[str], names: Sequence[str]) -> Iterator[FieldError]:
    for index, name in enumerate(named):
        if name not in names:
            yield _no_task((_FIELD, index), name, names)


def _unread(
    path: Path, name: str, reader: str, after: Mapping[str, Sequence[str]]
) -> Iterator[FieldError]:
    """Why a task cannot read the output of another."""
    shown = f"${{tasks.{name}.output}}"
    if name not in after:
        yield _no_task(path, shown, list(after), name)
    elif name not in before(after, reader):
        yield invalid(path, shown, f"{reader} does not come after {name}; add it to depends_on")


def _no_task(path: Path, value: str, names: Sequence[str], name: str = "") -> FieldError:
    meant = closest(name or value, names)
    hint = f'; did you mean "{meant}"?' if meant else ""
    return invalid(path, value, f"there is no such task{hint}")


def _circle(after: Mapping[str, Sequence[str]]) -> list[str]:
    """The first tasks that wait for each other, as a shortest way back; empty: none do."""
    for start in after:
        ways = [[start]]
        seen: set[str] = set()
        for way in ways:  # it grows meanwhile
            for step in after[way[-1]]:
                if step == start:
                    return [*way, start]
                if step not in seen:
                    seen.add(step)
                    ways.append([*way, step])
    return []
