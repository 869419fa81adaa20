"""Handing jobs to sbatch: each one once, whatever dies in between.

Before sbatch is run, the job's directory says so; when its answer is there, it is written down. A
job of which only the first is found may be in the queue, so it is looked for, by its comment.
"""

from __future__ import annotations

import re

from trainway.agent.slurm import accounting, queue_states
from trainway.agent.slurm.job_files import SCRIPT, SUBMITTING
from trainway.agent.slurm.slurm_failure import UNKNOWN, explain, is_silent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.pool.ssh_failure import Failure
    from trainway.agent.slurm.cluster_queue import ClusterQueue
    from trainway.agent.slurm.commands import Commands, Result
    from trainway.agent.slurm.job_files import JobFiles

    Done = Callable[[str, Failure | None], None]

SUBMIT = ["sbatch", "--parsable"]
TEST = ["sbatch", "--test-only"]
SECONDS = 120.0
_NUMBER = re.compile(r"^(\d+)(;\S*)?$", re.MULTILINE)


class Submission:
    """Submits jobs."""

    def __init__(self, commands: Commands, queue: ClusterQueue, user: str) -> None:
        self._commands = commands
        self._queue = queue
        self._user = user
        self._under_way: dict[str, list[Done]] = {}

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
            self._queue.when_asked(lambda answered: self._look(files, answered=answered))
        else:
            self._run(files)

    def _look(self, files: JobFiles, *, answered: bool) -> None:
        """Find a job that an earlier relay may have submitted."""
        number = queue_states.owners(self._queue.states).get(files.id, "")
        if number or not answered or self._queue.accounting != accounting.DATABASE:
            self._on_looked(files, number, answered=answered)
            return
        words = accounting.comment_query(self._user)
        self._commands.run(
            words,
            lambda result: self._on_looked(
                files, accounting.find(result.stdout, files.id), answered=result.ok
            ),
        )

    def _on_looked(self, files: JobFiles, number: str, *, answered: bool) -> None:
        if number:
            files.set_number(number)
            self._finish(files, number, None)
        elif answered:
            self._run(files)
        else:
            # It may be there: to be asked again when Slurm answers.
            self._finish(files, "", UNKNOWN)

    def _run(self, files: JobFiles) -> None:
        files.begin_submission()
        self._commands.run(
            [*SUBMIT, SCRIPT],
            lambda result: self._on_submitted(files, result),
            cwd=files.directory.path,
            seconds=SECONDS,
        )

    def _on_submitted(self, files: JobFiles, result: Result) -> None:
        found = _NUMBER.search(result.stdout)
        if result.ok and found:
            files.set_number(found.group(1))
            self._finish(files, found.group(1), None)
            return
        if not is_silent(result):
            files.directory.remove(SUBMITTING)
        self._finish(files, "", explain(result))

    def _finish(self, files: JobFiles, number: str, failure: Failure | None) -> None:
        for done in self._under_way.pop(files.id, []):
            done(number, failure)
