"""Which jobs do not start yet, and which never will: limits of runs, pipelines, missing backends.

What is decided follows from the records of the jobs as they are stored, so the next server decides
the same. Of jobs that are over the store is asked, whenever one of a pipeline has ended or is gone.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from trainway.backends.missing import MissingBackend
from trainway.engine.ledger import Ledger
from trainway.engine.live import LiveJob
from trainway.engine.live_jobs import LiveJobs
from trainway.engine.moving.candidates import is_undecided
from trainway.engine.phases import Phase
from trainway.engine.queue_entry import told_to_wait
from trainway.engine.record import JobRecord
from trainway.engine.run.limits import RunLimits
from trainway.engine.run.pipeline import Pipeline, decide, told
from trainway.engine.run.record import RunRecord
from trainway.engine.stored_job import Change
from trainway.engine.wishes import CANCEL
from trainway.jobset.labels import TASK

_UNAVAILABLE: Final = "Unavailable"
"""The reason of a job whose place cannot be reached, as one says that has begun."""
DEPENDENCY: Final = "DependencyFailed"
"""The reason of a task that was cancelled since one that it depends on did not succeed."""


class RunHolds:
    """The runs of which some jobs are not over, and that do not let all of them start."""

    def __init__(self, ledger: Ledger, place: Callable[[LiveJob], str]) -> None:
        self._ledger = ledger
        self._place = place
        """Has a place chosen for a job whose turn it is; what the job is told meanwhile."""
        self._limits = RunLimits()
        self._pipelines: dict[str, Pipeline] = {}
        self._phases: dict[str, dict[str, Phase]] = {}
        """The phase of each task, by the id of the run, as the store had it last."""
        self._stale: set[str] = set()
        """The pipelines of which a task has ended, is new, or is gone."""

    def add_all(self, runs: Iterable[RunRecord]) -> None:
        """Heed those of several runs."""
        for run in runs:
            self.add(run)

    def add(self, run: RunRecord | None) -> None:
        """Heed the limit of a run and the order of its tasks, if it has any."""
        self._limits.add(run)
        if run is not None and run.pipeline is not None:
            self._pipelines[run.id] = Pipeline.stored(run.pipeline)
            self._stale.add(run.id)

    def look(self, job: JobRecord) -> None:
        """A job has ended, or is gone."""
        if job.run in self._pipelines:
            self._stale.add(job.run)

    async def refresh(self, live: LiveJobs) -> None:
        """Forget pipelines that are over, and ask for the phases that may have changed."""
        for run_id in [run_id for run_id in self._pipelines if not live.of_run(run_id)]:
            del self._pipelines[run_id]
            self._phases.pop(run_id, None)
        asked, self._stale = self._stale & self._pipelines.keys(), set()
        if not asked:
            return
        try:
            self._phases |= await self._ledger.call(self._ledger.store.runs.task_phases, asked)
        except BaseException:
            self._stale |= asked
            raise

    def judged(
        self, waiting: Sequence[LiveJob], live: LiveJobs
    ) -> tuple[set[str], list[tuple[LiveJob, Change]]]:
        """The jobs among those that wait which do not start now, and what they are told."""
        held, changes = self._ordered(waiting)
        ended = {job.id for job, _ in changes}
        rest = [job for job in waiting if job.id not in held and job.id not in ended]
        held |= self._limits.held(rest, live)
        held |= {job.id: self._place(job) for job in rest if job.id not in held and _is_due(job)}
        placeless = _placeless(rest)
        held |= placeless
        records = {id_: live[id_].record for id_ in held}
        reasons = dict.fromkeys(placeless, _UNAVAILABLE)
        told_now = told_to_wait(records, held, {}, reasons)
        changes += [(live[id_], change) for id_, change in told_now]
        return {*held, *ended}, changes

    def _ordered(
        self, waiting: Sequence[LiveJob]
    ) -> tuple[dict[str, str], list[tuple[LiveJob, Change]]]:
        """The tasks whose turn it is not yet, and why; the ends of those whose turn never comes."""
        held: dict[str, str] = {}
        ends: list[tuple[LiveJob, Change]] = []
        if not self._phases:
            return held, ends
        members: dict[str, dict[str, LiveJob]] = {}
        for live in waiting:
            if live.record.run in self._phases and not live.has_begun:
                members.setdefault(live.record.run, {})[live.record.label_map[TASK]] = live
        for run_id, idle in members.items():
            decision = decide(self._pipelines[run_id], self._phases[run_id], idle)
            held |= {idle[task].id: told(others) for task, others in decision.waits.items()}
            ends += [(idle[task], _ending(idle[task], why)) for task, why in decision.ends.items()]
        return held, ends


def _placeless(waiting: Iterable[LiveJob]) -> dict[str, str]:
    """The jobs whose backend is missing, which nobody can start, and what they are told."""
    return {
        live.id: live.backend.error.sentence
        for live in waiting
        if isinstance(live.backend, MissingBackend)
    }


def _is_due(live: LiveJob) -> bool:
    """Whether a job whose turn has come has no place yet."""
    return not live.has_begun and bool(live.record.candidates) and is_undecided(live.record)


def _ending(live: LiveJob, why: str) -> Change:
    return live.ending(Phase.CANCELLED, DEPENDENCY, f"{why}, so it was not started", CANCEL)
