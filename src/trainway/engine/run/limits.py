"""How many jobs of a run may be under way at a time, wherever they run.

The limit of a run is in the store, and who is under way is in the records of its jobs, so the next
server decides the same.
"""

from collections.abc import Iterable, Sequence

from trainway.counting import counted
from trainway.engine.live import LiveJob
from trainway.engine.run.record import RunRecord
from trainway.engine.under_way import is_under_way


class RunLimits:
    """The runs with a limit, of which some jobs are not over."""

    def __init__(self) -> None:
        self._runs: dict[str, RunRecord] = {}

    def add(self, run: RunRecord | None) -> None:
        """Heed the limit of a run, if it has one."""
        if run is not None and run.parallel is not None:
            self._runs[run.id] = run

    def held(self, waiting: Sequence[LiveJob], lives: Iterable[LiveJob]) -> dict[str, str]:
        """The jobs among those that wait whose turn it is not yet, and why, in words."""
        if not self._runs:
            return {}
        members = [live for live in lives if live.record.run in self._runs]
        self._runs = {
            id_: run
            for id_, run in self._runs.items()
            if any(live.record.run == id_ for live in members)
        }
        found: dict[str, str] = {}
        for run in self._runs.values():
            busy = sum(live.record.run == run.id and is_under_way(live) for live in members)
            queue = [
                live for live in waiting if live.record.run == run.id and not is_under_way(live)
            ]
            queue.sort(key=lambda live: (-live.record.priority, live.id))
            limit = run.parallel or 0
            why = f"at most {counted(limit, 'job')} of the run {run.name} may run at a time"
            found |= {live.id: why for live in queue[max(limit - busy, 0) :]}
        return found
