"""Restarts of plain Jobs, as JobSet makes them: how often, and which Job is of which attempt. Pure.

How often the set was restarted stands on its Service, before any Job of the attempt before is
removed, and every Job says of which attempt it is. So whoever watches next, also after a server was
killed, sees what is left to do: Jobs of an earlier attempt go, and those that are missing are made.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from trainway.agent.controllers.jobset_failure_policy import RESTART, Ruling
from trainway.jobset.labels import PLAIN_ATTEMPT, PLAIN_RESTARTS, RESTART_ATTEMPT
from trainway.json_types import Json


@dataclass(frozen=True)
class Restarts:
    """How often a set of plain Jobs was restarted, and why the last time."""

    whole: int = 0
    """Of all Jobs at once."""
    single: Mapping[str, int] = field(default_factory=dict)
    """Of one Job by itself, by its name."""
    counted: int = 0
    """Those of both that count towards the most that there may be."""
    reason: str = ""
    message: str = ""
    time: str = ""

    @classmethod
    def on(cls, service: Json) -> "Restarts":
        """What stands on the Service; none where somebody wrote something else there."""
        text = (service["metadata"].get("annotations") or {}).get(PLAIN_RESTARTS)
        try:
            found = cls(**json.loads(text)) if text else cls()
        except (TypeError, ValueError):
            return cls()
        single = found.single if isinstance(found.single, dict) else {"": None}
        numbers = (found.whole, found.counted, *single.values())
        return found if all(isinstance(number, int) for number in numbers) else cls()

    def annotation(self) -> dict[str, str]:
        """For the Service."""
        return {PLAIN_RESTARTS: json.dumps(asdict(self), sort_keys=True)}

    def attempt(self, name: str) -> int:
        """The attempt that a Job belongs to now."""
        return self.whole + self.single.get(name, 0)

    def after(self, ruling: Ruling) -> "Restarts":
        """Once more, as the failure policy says."""
        counted = self.counted + ruling.counts
        if not ruling.action.startswith(RESTART):
            single = {**self.single, ruling.job.name: self.single.get(ruling.job.name, 0) + 1}
            return replace(self, single=single, counted=counted)
        time = str(ruling.job.failure.get("lastTransitionTime") or "")
        why = replace(self, reason=ruling.reason, message=ruling.message, time=time)
        return replace(why, whole=self.whole + 1, counted=counted)


def current(jobs: Iterable[Json], restarts: Restarts) -> list[Json]:
    """The Jobs of the attempt that goes on."""
    return [job for job in jobs if _attempt(job) >= restarts.attempt(job["metadata"]["name"])]


def earlier(jobs: Iterable[Json], restarts: Restarts) -> list[Json]:
    """The Jobs of attempts that are over."""
    return [job for job in jobs if _attempt(job) < restarts.attempt(job["metadata"]["name"])]


def missing(names: Iterable[str], jobs: Sequence[Json], restarts: Restarts) -> list[str]:
    """The Jobs that are to be made anew, of which nothing is left; the first ones are sent."""
    there = {job["metadata"]["name"] for job in jobs}
    return [name for name in names if restarts.attempt(name) and name not in there]


def made_anew(job: Json, restarts: Restarts) -> Json:
    """A Job as it was sent, for the attempt that goes on now."""
    metadata = job["metadata"]
    attempt = {PLAIN_ATTEMPT: str(restarts.attempt(metadata["name"]))}
    template = job["spec"]["template"]
    marked = _numbered(metadata, restarts.whole)
    marked["annotations"] = {**marked["annotations"], **attempt}
    inner = {**template, "metadata": _numbered(template["metadata"], restarts.whole)}
    return {**job, "metadata": marked, "spec": {**job["spec"], "template": inner}}


def _numbered(metadata: Json, whole: int) -> Json:
    number = {RESTART_ATTEMPT: str(whole)}
    parts = {part: {**metadata[part], **number} for part in ("labels", "annotations")}
    return {**metadata, **parts}


def can_restart(failure: Json | None) -> bool:
    """Whether a failure policy may restart anything."""
    return failure is not None and bool(failure.get("maxRestarts") or [*_ignoring(failure)])


def _ignoring(failure: Json) -> Iterator[Any]:
    for rule in failure.get("rules") or ():
        if str(rule.get("action")).endswith("AndIgnoreMaxRestarts"):
            yield rule


def _attempt(job: Json) -> int:
    text = str((job["metadata"].get("annotations") or {}).get(PLAIN_ATTEMPT) or "0")
    return int(text) if text.isdecimal() else 0
