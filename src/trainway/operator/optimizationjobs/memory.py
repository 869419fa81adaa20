"""What the controller remembers of each search between two looks at it.

All of it can be lost: it spares requests, bridges the delay of the cache of TrainJobs, and lets
trials be compared that run at the same time. What must not be forgotten is in the cluster.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from trainway.json_types import Json
from trainway.optimization.trial import Point

CACHE_DELAY: Final = timedelta(seconds=30)
"""After this time, a trial that was created and that the cache does not show is not there."""
_MOST_POINTS: Final = 101
"""Progress is a percentage."""


@dataclass(slots=True)
class Note:
    """About one search, known by its uid."""

    uid: str
    sent: dict[str, tuple[datetime, Json]] = field(default_factory=dict)
    """The trials that were created, by name, until the cache has them."""
    points: dict[str, list[Point]] = field(default_factory=dict)
    """What each TrainJob reported of the objective, by its uid."""
    told: set[str] = field(default_factory=set)

    def known(self, cached: Iterable[Json], now: datetime) -> list[Json]:
        """The TrainJobs of the cache, and those that it does not show yet."""
        found = list(cached)
        for job in found:
            self.sent.pop(job["metadata"]["name"], None)
        self.sent = {
            name: (at, job) for name, (at, job) in self.sent.items() if now - at < CACHE_DELAY
        }
        return [*found, *(job for _, job in self.sent.values())]

    def observe(self, trainjob: Json, point: Point | None) -> list[Point]:
        """All points of a trial, with the one it reports now."""
        points = self.points.setdefault(trainjob["metadata"]["uid"], [])
        if point is not None and (not points or points[-1] != point):
            if points and points[-1].step >= point.step:  # it began again, or says it better
                points[:] = [each for each in points if each.step < point.step]
            points.append(point)
        return points[-_MOST_POINTS:]


class Memory:
    """All notes by the key of the search."""

    def __init__(self) -> None:
        self._notes: dict[str, Note] = {}

    def note(self, key: str, uid: str) -> Note:
        """The note about a search; an empty one if there was none about this very one."""
        note = self._notes.get(key)
        if note is None or note.uid != uid:
            note = self._notes[key] = Note(uid)
        return note

    def gone(self, key: str, trial: str) -> None:
        """A trial was deleted, so it is no longer on its way to the cache."""
        note = self._notes.get(key)
        if note is not None:
            note.sent.pop(trial, None)

    def forget(self, key: str) -> None:
        """The search is gone, or over."""
        self._notes.pop(key, None)
