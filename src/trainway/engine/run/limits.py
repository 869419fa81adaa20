"""How many jobs of a run may be under way at a time, wherever they run.

The limit of a run is in the store, and who is under way is in the records of its jobs, so the next
server decides the same.
"""

from collections.abc import Sequence

from trainway.counting import counted
from trainway.engine.live import LiveJob
from trainway.engine.live_jobs import LiveJobs
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

    def held(self, waiting: Sequence[LiveJob], live: LiveJobs) -> dict[str, str]:
        """The jobs among those that wait whose turn it is not yet, and why, in words."""
        if not self._runs:
            return {}
        self._runs = {id_: run for id_, run in self._runs.items() if live.of_run(id_)}
        queues: dict[str, list[LiveJob]] = {}
        for job in waiting:
            if job.record.run in self._runs and not is_under_way(job.record):
                queues.setdefault(job.record.run, []).append(job)
        found: dict[str, str] = {}
        for id_, queue in queues.items():
            run = self._runs[id_]
            busy = sum(map(is_under_way, live.records_of(id_)))
            queue.sort(key=lambda job: (-job.record.priority, job.id))
            limit = run.parallel or 0
            why = f"at most {counted(limit, 'job')} of the run {run.name} may run at a time"
            found |= {job.id: why for job in queue[max(limit - busy, 0) :]}
        return found
