"""Jobs that Slurm gets as one array: they come one by one, and are handed over together.

Each has its own directory, and a link to it under its rank in the directory of the array, which is
how the one script of all of them finds it. Each is complete in itself: one that never comes delays
the others a little, and one that comes late is an array of its own with the same script.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trainway.agent.base.event_loop import EventLoop, Timer
    from trainway.agent.slurm.array_place import ArrayPlace
    from trainway.agent.slurm.files.job_files import JobFiles

    Go = Callable[[ArrayPlace, dict[int, JobFiles]], None]

PATIENCE = 10.0
"""How long after the last that came the others are waited for."""


class Gathering:
    """Arrays of which some jobs have come; `go` gets them by rank, with the place of the last."""

    def __init__(self, loop: EventLoop, go: Go) -> None:
        self._loop = loop
        self._go = go
        self._come: dict[str, dict[int, JobFiles]] = {}
        self._timers: dict[str, Timer] = {}

    def add(self, place: ArrayPlace, files: JobFiles) -> None:
        """One has come; all go on together when none is missing, or none comes any more."""
        come = self._come.setdefault(place.id, {})
        come[place.rank] = files
        timer = self._timers.pop(place.id, None)
        if timer is not None:
            timer.cancel()
        if len(come) >= place.count:
            self._end(place)
        else:
            self._timers[place.id] = self._loop.call_later(PATIENCE, lambda: self._end(place))

    def _end(self, place: ArrayPlace) -> None:
        self._timers.pop(place.id, None)
        self._go(place, self._come.pop(place.id))


def listed(ranks: Iterable[int]) -> str:
    """Ranks as sbatch takes them: `0-4,6`."""
    runs: list[list[int]] = []
    for rank in sorted(ranks):
        if runs and runs[-1][-1] == rank - 1:
            runs[-1] = [runs[-1][0], rank]
        else:
            runs.append([rank])
    return ",".join("-".join(map(str, run)) for run in runs)
