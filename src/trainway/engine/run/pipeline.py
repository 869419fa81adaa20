"""Which task of a pipeline may start, which waits, and which never will. Pure, and decided here.

All that counts is who comes after whom and the phase of each task, so the next server decides the
same. A task whose job was deleted is over and has not succeeded.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import Final

from trainway.engine.phases import TERMINAL, Phase
from trainway.errors import ConflictError, NotFoundError

_ENDINGS: Final = {Phase.FAILED: "failed", Phase.CANCELLED: "was cancelled", None: "was deleted"}


@dataclass(frozen=True)
class Pipeline:
    """Its tasks in the order of the file, and for each those that it comes after."""

    after: Mapping[str, Sequence[str]]

    @classmethod
    def stored(cls, text: str) -> "Pipeline":
        """As the store has it."""
        return cls({item["name"]: tuple(item["after"]) for item in json.loads(text)["tasks"]})

    def text(self) -> str:
        """For the store."""
        return json.dumps({"tasks": self.view()})

    def view(self) -> list[dict[str, object]]:
        """For people and programs."""
        return [{"name": name, "after": list(others)} for name, others in self.after.items()]

    def stage(self, task: str) -> tuple[int, int]:
        """How many tasks come before one at least, and of how many in a row it is one."""
        before = self._longest(task, self.after)
        followers = {
            name: [other for other, others in self.after.items() if name in others]
            for name in self.after
        }
        return before, before + 1 + self._longest(task, followers)

    def _longest(self, task: str, neighbours: Mapping[str, Sequence[str]]) -> int:
        """How many tasks the longest way has that leads away from one."""
        found = dict.fromkeys(self.after, 0)
        for name in TopologicalSorter(neighbours).static_order():
            found[name] = max((found[other] + 1 for other in neighbours[name]), default=0)
        return found[task]

    def since(self, task: str) -> list[str]:
        """A task, and all that come after it, in the order of the file."""
        found = {task}
        while True:
            more = {name for name, others in self.after.items() if found & set(others)} - found
            if not more:
                return [name for name in self.after if name in found]
            found |= more


@dataclass(frozen=True)
class Decision:
    """What is to become of the tasks that have not begun."""

    start: frozenset[str] = frozenset()
    waits: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """For each task that waits, those that it waits for."""
    ends: Mapping[str, str] = field(default_factory=dict)
    """For each task that will never start, why, in words."""


def decide(pipeline: Pipeline, phases: Mapping[str, Phase], idle: Collection[str]) -> Decision:
    """What becomes of the idle tasks: those that were not given to anybody and want to start."""
    start, waits, ends = set(), {}, {}
    culprits = _culprits(pipeline, phases, idle)
    for task in idle:
        left = [name for name in pipeline.after[task] if phases.get(name) != Phase.SUCCEEDED]
        if task in culprits:
            culprit = culprits[task]
            ends[task] = f"{culprit} {_ENDINGS[phases.get(culprit)]}"
        elif left:
            waits[task] = left
        else:
            start.add(task)
    return Decision(frozenset(start), waits, ends)


def to_rerun(pipeline: Pipeline, phases: Mapping[str, Phase], task: str) -> list[str]:
    """The tasks that run again from one on: it, and all that come after it, if they can.

    What they come after must have succeeded, or be on its way.
    """
    if task not in pipeline.after:
        names = ", ".join(pipeline.after)
        raise NotFoundError(f"the pipeline has no task {task!r}", hint=f"its tasks are: {names}")
    again = pipeline.since(task)
    for name in again:
        if name not in phases:
            raise ConflictError(f"the job of the task {name} was deleted")
        if phases[name] not in TERMINAL:
            said = f"the task {name} has not ended ({phases[name].lower()})"
            raise ConflictError(said, hint="wait for its end, or cancel it")
    for name in again:
        for other in pipeline.after[name]:
            if other not in again and phases.get(other) in _ENDINGS:
                ending = _ENDINGS[phases.get(other)]
                raise ConflictError(f"{name} depends on {other}, which {ending}",
                                    hint=f"run it again from there: --from {other}")  # fmt: skip
    return again


def told(waits: Sequence[str]) -> str:
    """For whom a task waits, in words."""
    *others, last = waits
    return f"it waits for {', '.join(others)} and {last}" if others else f"it waits for {last}"


def _culprits(
    pipeline: Pipeline, phases: Mapping[str, Phase], idle: Collection[str]
) -> dict[str, str]:
    """For each task that cannot start any more, the one with which that began."""
    found: dict[str, str] = {}
    for task in TopologicalSorter(pipeline.after).static_order():
        for name in pipeline.after[task]:
            phase = phases.get(name)
            if phase in (None, Phase.FAILED):
                found[task] = name
            elif phase == Phase.CANCELLED:
                found[task] = found.get(name, name)
            elif name in idle and name in found:
                found[task] = found[name]
            if task in found:
                break
    return found
