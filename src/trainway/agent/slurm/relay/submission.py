"""Handing jobs to sbatch: each one once, whatever dies in between.

Before sbatch is run, the job's directory says so; when its answer is there, it is written down. A
job of which only the first is found may be in the queue, so it is looked for, by its comment. The
jobs of an array are handed over by one sbatch; all else is done for each of them.
"""

from __future__ import annotations

import re

from trainway.agent.slurm.arrays import Gathering, listed
from trainway.agent.slurm.files.job_files import SCRIPT, SUBMITTING
from trainway.agent.slurm.relay import accounting, queue_states
from trainway.agent.slurm.relay.slurm_failure import UNKNOWN, Silence, explain, is_silent
from trainway.agent.transfer.ssh_failure import Failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from trainway.agent.base.event_loop import EventLoop
    from trainway.agent.slurm.array_place import ArrayPlace
    from trainway.agent.slurm.commands import Commands, Result
    from trainway.agent.slurm.files.job_files import JobFiles
    from trainway.agent.slurm.relay.cluster_queue import ClusterQueue

    Done = Callable[[str, Failure | None], None]
    Batch = Mapping[str, JobFiles]
    """The jobs that one sbatch is for, by what follows its number in theirs."""

SUBMIT = ["sbatch", "--parsable"]
TEST = ["sbatch", "--test-only"]
SECONDS = 120.0
_NUMBER = re.compile(r"^(\d+)(;\S*)?$", re.MULTILINE)


class Submission:
    """Submits jobs."""

    def __init__(self, loop: EventLoop, commands: Commands, queue: ClusterQueue, user: str) -> None:
        self._commands = commands
        self._queue = queue
        self._user = user
        self._under_way: dict[str, list[Done]] = {}
        self._doubted: list[JobFiles] = []
        """The jobs that are to be looked for."""
        self._arrays = Gathering(loop, self._run_array)

    def submit(self, files: JobFiles, done: Done) -> None:
        """Have a job in the queue; `done` gets its number, or why it is not there."""
        number = files.number
        if number:
            done(number, None)
            return
        waiting = self._under_way.get(files.id)
        if waiting is not None:
            waiting.append(done)
            return
        self._under_way[files.id] = [done]
        if files.may_be_submitted:
            self._doubted.append(files)
            if len(self._doubted) == 1:
                self._queue.when_asked(lambda answered: self._look(answered=answered))
        else:
            self._hand_over(files)

    def _look(self, *, answered: bool) -> None:
        """Find jobs that an earlier relay may have submitted."""
        doubted, self._doubted = self._doubted, []
        owners = queue_states.owners(self._queue.states)
        found = [files for files in doubted if files.owner in owners]
        missing = [files for files in doubted if files.owner not in owners]
        self._on_looked(found, owners, answered=answered)
        if not answered or self._queue.accounting != accounting.DATABASE:
            self._on_looked(missing, owners, answered=answered)
        elif missing:
            self._commands.run(
                accounting.comment_query(self._user),
                lambda result: self._on_looked(
                    missing, accounting.owners(result.stdout), answered=result.ok
                ),
            )

    def _on_looked(
        self, jobs: Iterable[JobFiles], owners: Mapping[str, str], *, answered: bool
    ) -> None:
        for files in jobs:
            number = owners.get(files.owner)
            if number:
                self._settle(files, number)
            elif answered:
                self._hand_over(files)
            else:
                # It may be there: to be asked again when Slurm answers.
                self._finish(files, "", UNKNOWN)

    def _hand_over(self, files: JobFiles) -> None:
        place = files.place
        if place is None:
            self._run([SCRIPT], files.directory.path, {"": files})
        else:
            self._arrays.add(place, files)

    def _run_array(self, place: ArrayPlace, jobs: dict[int, JobFiles]) -> None:
        """Submit an array from its directory, where each job finds its own under its rank."""
        words = [f"--array={listed(jobs)}", f"{place.rank}/{SCRIPT}"]
        batch = {f"_{rank}": jobs[rank] for rank in sorted(jobs)}
        self._run(words, jobs[place.rank].array_path(place), batch)

    def _run(self, words: list[str], cwd: str, batch: Batch) -> None:
        try:
            for files in batch.values():
                files.begin_submission()
        except OSError as error:
            for files in batch.values():
                self._finish(files, "", Failure(f"{cwd}: {error.strerror}"))
            return
        self._commands.run(
            [*SUBMIT, *words],
            lambda result: self._on_submitted(batch, result),
            cwd=cwd,
            seconds=SECONDS,
        )

    def _on_submitted(self, batch: Batch, result: Result) -> None:
        found = _NUMBER.search(result.stdout)
        for suffix, files in batch.items():
            if result.ok and found:
                self._settle(files, found.group(1) + suffix)
                continue
            if not is_silent(result):
                files.directory.remove(SUBMITTING)
            self._finish(files, "", explain(result))

    def _settle(self, files: JobFiles, number: str) -> None:
        """Write a job's number down; without that it is looked for once more."""
        try:
            files.set_number(number)
        except OSError as error:
            self._finish(files, "", Silence(f"{files.directory.path}: {error.strerror}"))
        else:
            self._finish(files, number, None)

    def _finish(self, files: JobFiles, number: str, failure: Failure | None) -> None:
        for done in self._under_way.pop(files.id, []):
            done(number, failure)
