"""The tasks of a pipeline: which comes after which, and whose output they read.

Without any `depends_on` each task comes after the one before it, as in SkyPilot. With one, in
whichever task, a task comes after those that it names, and those that name none begin at once.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
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
_MEANT_AS_ONE: Final = re.compile(r"\$\{tasks\.([a-zA-Z0-9._-]+)\}?", re.ASCII)
_FIELD: Final = "depends_on"
_WITHOUT_OUTPUTS: Final = ("secrets", "workdir", "file_mounts", "volumes")
_SHOWN_OF_A_CIRCLE: Final = 10


def titles(tasks: Sequence[Task]) -> list[str]:
    """What the tasks are called in `depends_on` and in messages, no two the same.

    One without a name is called after its rank, and so is one whose name another has: SkyPilot
    lets tasks share a name as long as nothing refers to them.
    """
    names: dict[str, None] = {}
    for rank, task in enumerate(tasks):
        name = task.name or f"task-{rank}"
        while name in names:
            name = f"{name}-{rank}"
        names[name] = None
    return list(names)


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
    known = frozenset(names)
    found += [
        (rank, error)
        for rank, task in enumerate(tasks)
        for error in _unknown(task.depends_on or (), names, known)
    ]
    yield from found
    if found:
        return
    after = dependencies(tasks)
    circle = _circle(after)
    if circle:
        rank = names.index(circle[0])
        detail = f"the tasks wait for each other: {_shown(circle)}; remove one of these"
        yield rank, invalid((_FIELD,), list(after[circle[0]]), detail)
        return
    for rank, task in enumerate(tasks):
        yield from ((rank, error) for error in _misspelt(task, known))
        reads = list(references(task))
        earlier = before(after, names[rank]) if reads else set()
        for path, name in reads:
            yield from ((rank, error) for error in _unread(path, name, names[rank], after, earlier))


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


def may_read(value: object) -> bool:
    """Whether what is written somewhere, such as a task, names the output of any other."""
    return _REFERENCE.search(json.dumps(value)) is not None


def references(task: Task) -> Iterator[tuple[Path, str]]:
    """The tasks whose output a task reads, and where it says so."""
    for path, text in _texts(task):
        yield from ((path, name) for name in dict.fromkeys(_REFERENCE.findall(text)))


def _texts(task: Task) -> Iterator[tuple[Path, str]]:
    """What may name the output of another task."""
    yield from ((("envs", key_step(name)), text) for name, text in task.envs.items())
    yield ("setup",), task.setup
    yield ("run",), task.run


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


def _unknown(
    named: Sequence[str], names: Sequence[str], known: Collection[str]
) -> Iterator[FieldError]:
    for index, name in enumerate(named):
        if name not in known:
            yield _no_task((_FIELD, index), name, names)


def _misspelt(task: Task, known: Collection[str]) -> Iterator[FieldError]:
    """What is surely meant as the output of another task, and would stay as it is.

    A shell calls `${tasks.a}` a bad substitution, after the tasks before it have run for hours.
    What names no task of this file is left alone: it may be a template of another program.
    """
    for path, text in _texts(task):
        for found in dict.fromkeys(match[0] for match in _MEANT_AS_ONE.finditer(text)):
            meant = found.removeprefix("${tasks.").rstrip("}")
            heads = (
                meant[:end] for end in range(len(meant), 0, -1) if meant[end:][:1] in ("", ".")
            )
            name = next((head for head in heads if head in known), None)
            if name is not None and not _REFERENCE.fullmatch(found):
                detail = f"of a task there is only its output: ${{tasks.{name}.output}}"
                yield invalid(path, found, detail)
    for field in _WITHOUT_OUTPUTS:
        if may_read(task.data.get(field)):
            detail = "the output of another task can be named in envs, setup and run only"
            yield forbidden((field,), detail)


def _unread(
    path: Path,
    name: str,
    reader: str,
    after: Mapping[str, Sequence[str]],
    earlier: Collection[str],
) -> Iterator[FieldError]:
    """Why a task cannot read the output of another."""
    shown = f"${{tasks.{name}.output}}"
    if name not in after:
        yield _no_task(path, shown, list(after), name)
    elif name not in earlier:
        yield invalid(path, shown, f"{reader} does not come after {name}; add it to depends_on")


def _no_task(path: Path, value: str, names: Sequence[str], name: str = "") -> FieldError:
    meant = closest(name or value, names)
    hint = f'; did you mean "{meant}"?' if meant else ""
    return invalid(path, value, f"there is no such task{hint}")


def _shown(circle: Sequence[str]) -> str:
    """The tasks of a circle, without most of one that nobody would read."""
    steps = list(circle)
    if len(steps) > _SHOWN_OF_A_CIRCLE:
        left_out = len(steps) - _SHOWN_OF_A_CIRCLE
        steps[6:-4] = [f"({left_out:,} more)"]
    return " -> ".join(steps)


def _circle(after: Mapping[str, Sequence[str]]) -> list[str]:
    """Tasks that wait for each other, as a shortest way back to the first; empty: none do."""
    stuck = _never_started(after)
    if not stuck:
        return []
    walked: dict[str, None] = {}
    name = next(name for name in after if name in stuck)
    while name not in walked:
        walked[name] = None
        name = next(step for step in after[name] if step in stuck)
    return _way_back(after, name)


def _never_started(after: Mapping[str, Sequence[str]]) -> set[str]:
    """The tasks that wait for each other, and those that wait for one of these."""
    missing = {name: len(others) for name, others in after.items()}
    waiting: dict[str, list[str]] = {name: [] for name in after}
    for name, others in after.items():
        for other in others:
            waiting[other].append(name)
    started = [name for name, count in missing.items() if count == 0]
    for name in started:  # it grows meanwhile
        for other in waiting[name]:
            missing[other] -= 1
            if missing[other] == 0:
                started.append(other)
    return set(after) - set(started)


def _way_back(after: Mapping[str, Sequence[str]], start: str) -> list[str]:
    """The shortest way from a task by way of those before it to itself; there is one."""
    came_from: dict[str, str] = {}
    reached = [start]
    for name in reached:  # it grows meanwhile
        for step in after[name]:
            if step not in came_from:
                came_from[step] = name
                reached.append(step)
        if start in came_from:
            break
    way = [start, came_from[start]]
    while way[-1] != start:
        way.append(came_from[way[-1]])
    return way[::-1]
