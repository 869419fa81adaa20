"""What a server may ask of the relay: one method for each `op`.

Each question gets one answer, `{"event": "answer", "request": N, "ok": ...}`, when what it asks for
is done; what is wrong is said in one line with a hint. What is followed comes as frames of its own.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from trainway.agent.base import launch
from trainway.agent.slurm.files import job_files
from trainway.agent.slurm.files.job_files import JobFiles, JobFilesError, MissingJobError
from trainway.agent.slurm.relay import accounting, cluster_facts
from trainway.agent.slurm.relay.cluster_queue import ClusterQueue
from trainway.agent.slurm.relay.followed_job import FollowedJob
from trainway.agent.slurm.relay.job_ends import JobEnds
from trainway.agent.slurm.relay.job_feeds import JobFeeds
from trainway.agent.slurm.relay.job_moves import JobMoves
from trainway.agent.slurm.relay.lost_drivers import LostDrivers
from trainway.agent.slurm.relay.queue_query import QueueQuery
from trainway.agent.slurm.relay.relay_answers import (
    facts_answer,
    hello_answer,
    refusal,
    refusal_of,
    trouble_of,
    user,
)
from trainway.agent.slurm.relay.requeue_limit import RequeueLimit
from trainway.agent.slurm.relay.sick_jobs import SickJobs
from trainway.agent.slurm.relay.slurm_failure import UNKNOWN, Silence, explain
from trainway.agent.slurm.relay.staging import JobStagings
from trainway.agent.slurm.relay.submission import TEST, Submission
from trainway.agent.slurm.relay.wishes import END, words
from trainway.agent.transfer.blobs import BlobError, references
from trainway.agent.transfer.feed import Position
from trainway.agent.transfer.frame_faults import fault_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.base.clock import Clock
    from trainway.agent.base.directory import Directory
    from trainway.agent.base.event_loop import EventLoop
    from trainway.agent.slurm.commands import Commands, Result
    from trainway.agent.slurm.relay.relay_frames import (
        CommandAnswer,
        FactsAnswer,
        MissingAnswer,
        PingAnswer,
        RelayAnswer,
        SlurmNews,
        SubmitAnswer,
        TestAnswer,
    )
    from trainway.agent.transfer.blobs import Blobs
    from trainway.agent.transfer.connection import Connection
    from trainway.agent.transfer.ssh_failure import Failure
    from trainway.json_types import Json

    Answer = Callable[[RelayAnswer], None]

ERRORS = (JobFilesError, BlobError, KeyError, TypeError, ValueError, OSError)


class RelayOperations:
    """Carries out what the server asks for."""

    def __init__(
        self, loop: EventLoop, clock: Clock, home: Directory, blobs: Blobs, commands: Commands
    ) -> None:
        self._loop = loop
        self._now = clock.now
        self._home = home
        self._blobs = blobs
        self._commands = commands
        self._user = user()
        self._agent = ""

    def serve(self, connection: Connection) -> None:
        """Answer over this connection from now on."""
        self._connection = connection
        self._feeds = JobFeeds(self._loop, self._now, connection)
        self._query = QueueQuery(self._commands, self._user)
        self._queue = ClusterQueue(
            self._loop,
            self._commands,
            self._query,
            self._now,
            lambda: list(self._feeds.jobs.values()),
        )
        self._submission = Submission(self._loop, self._commands, self._queue, self._user)
        self._stagings = JobStagings(self._loop, self._now, self._commands.env, self._feeds.wake)
        self._ends = JobEnds(self._loop, self._now, self._commands, self._queue)
        self._sick_jobs = SickJobs(self._commands, self._queue.poke)
        self._limit = RequeueLimit(self._commands, self._queue, self._now)
        self._moves = JobMoves(self._home, self._submission, self._ends, self._follow)
        self._queue.on_news = self._on_news
        self._queue.on_end = LostDrivers(self._commands, self._queue.poke, self._on_end).on_end
        self._queue.on_round = self._on_round
        self._queue.on_trouble = self._on_trouble
        self._feeds.on_grown = self._on_grown
        self._trouble = ""
        self._is_configured = False
        self._when_configured: list[Callable[[], None]] = []

    def handle(self, connection: Connection, frame: Json) -> None:
        """Do what a frame asks for; what cannot be done is answered with an error."""
        number = frame.get("request")

        def answer(fields: RelayAnswer) -> None:
            connection.answer({"event": "answer", "request": number, **fields})

        operation = str(frame.get("op"))
        method = getattr(self, f"_op_{operation}", None) or self._moves.operation(operation)
        if method is None:
            answer(refusal(f"no such operation: {operation}"))
            return
        try:
            method(frame, answer)
        except ERRORS as error:
            answer(refusal(fault_of(error)))

    # What the queue says

    def _on_news(self, job: FollowedJob, fields: SlurmNews) -> None:
        frame = job.news(fields)
        if frame is not None:
            self._connection.answer(frame)
            if not job.is_waiting:
                self._feeds.wake(job)

    def _on_end(self, job: FollowedJob, fields: SlurmNews) -> None:
        job.end(fields)
        self._feeds.wake(job)

    def _on_round(self) -> None:
        for job in list(self._feeds.jobs.values()):
            if job.staging is not None:
                job.staging.look()
        self._ends.step()
        self._limit.look(self._feeds.jobs.values())
        self._sick_jobs.look(self._feeds.jobs.values())

    def _on_grown(self, job: FollowedJob) -> None:
        if job.is_waiting:
            self._queue.poke()
        self._ends.step_of(job)

    def _on_trouble(self, failure: Failure | None) -> None:
        said = "" if failure is None else str(failure)
        if said != self._trouble:
            self._trouble = said
            self._connection.answer(trouble_of(failure))

    # Questions about the cluster

    def _op_hello(self, frame: Json, answer: Answer) -> None:
        """Begin: say how Slurm is to be asked, and learn where this is."""
        self._query.use_rest(frame.get("rest") or {})
        answer(hello_answer(self._home))
        self._commands.run(accounting.CONFIGURATION, self._on_configuration)

    def _on_configuration(self, result: Result) -> None:
        if result.ok:
            self._queue.accounting = accounting.kind_of(accounting.settings(result.stdout))
        self._is_configured = True
        waiting, self._when_configured = self._when_configured, []
        for callback in waiting:
            callback()

    def _op_ping(self, frame: Json, answer: Answer) -> None:
        """Answer, with what this relay took so far."""
        self._sick_jobs.avoid(frame.get("avoided"))
        used: PingAnswer = {
            "ok": True,
            "commands": self._commands.count,
            "rounds": self._queue.rounds,
            "seconds": sum(os.times()[:4]),
        }
        answer(used)

    def _op_facts(self, _frame: Json, answer: Answer) -> None:
        """What the cluster is like."""
        answers: dict[str, str] = {}
        waiting = set(cluster_facts.QUESTIONS)

        def on_answer(name: str, result: Result) -> None:
            answers[name] = result.stdout + (result.stderr if name == "mpi" else "")
            waiting.discard(name)
            if name == "config" and not result.ok:
                answers["failure"] = "yes"
                answer(refusal_of(explain(result)))
            elif not waiting and "failure" not in answers:
                self._query.check(lambda rest: answer(self._facts(answers, rest)))

        for name, argv in cluster_facts.QUESTIONS.items():
            self._commands.run(argv, partial(on_answer, name))

    def _facts(self, answers: dict[str, str], rest: str) -> FactsAnswer:
        facts = cluster_facts.facts(answers)
        self._queue.accounting = facts["accounting"]
        return facts_answer(facts, rest, self._home)

    def _op_command(self, frame: Json, answer: Answer) -> None:
        """Run a program of this machine."""
        argv = [str(word) for word in frame["argv"]]

        def on_end(result: Result) -> None:
            ended: CommandAnswer = {
                "ok": True,
                "status": result.status,
                "stdout": result.stdout,
                "stderr": result.stderr,
            }
            answer(ended)

        text = str(frame.get("text") or "").encode()
        self._commands.run(argv, on_end, cwd=self._home.path, stdin=text)

    def _op_test(self, frame: Json, answer: Answer) -> None:
        """Ask whether sbatch would take a script."""

        def on_end(result: Result) -> None:
            taken: TestAnswer = {"ok": True, "said": result.stderr.strip()}
            answer(taken if result.ok else refusal_of(explain(result)))

        script = str(frame["script"]).encode()
        self._commands.run(TEST, on_end, cwd=self._home.path, stdin=script)

    # Jobs

    def _op_have(self, frame: Json, answer: Answer) -> None:
        wanted = (str(name) for name in frame["blobs"])
        lacks: MissingAnswer = {"ok": True, "missing": self._blobs.missing(wanted)}
        answer(lacks)

    def _op_blob(self, frame: Json, answer: Answer) -> None:
        self._blobs.receive(str(frame["sha256"]), self._connection.name, frame)
        if frame.get("last"):
            answer({"ok": True})

    def _op_submit(self, frame: Json, answer: Answer) -> None:
        """Have a job in the queue, once."""
        if not self._is_configured:
            self._when_configured.append(lambda: self.handle(self._connection, frame))
            return
        files = JobFiles(self._home, str(frame["id"]), make=True)
        try:
            self._put(files, frame)
        except ERRORS:
            files.close()
            raise

        self._submit(files, frame, answer)

    def _submit(self, files: JobFiles, frame: Json, answer: Answer) -> None:
        """Have a job in the queue, if it is not, and follow it."""

        def on_submitted(number: str, failure: Failure | None) -> None:
            if failure is not None:
                files.close()
                answer(refusal_of(failure))
                return
            queued: SubmitAnswer = {"ok": True, "job": number}
            answer(queued)
            self._follow(files, number, Position(frame))

        self._submission.submit(files, on_submitted)

    def _put(self, files: JobFiles, frame: Json) -> None:
        """Write a job down, unless it was submitted before."""
        if files.number:
            return
        plan: Json = frame["plan"]
        missing = self._blobs.missing(references(plan.get("objects") or []))
        if missing:
            raise JobFilesError(f"blobs are missing: {', '.join(missing)}")
        history = str(frame.get("history") or "")
        files.put(plan, str(frame["script"]), self._blobs, self._program(), history)

    def _program(self) -> str:
        """The agent as one file on the shared file system."""
        if not self._agent:
            self._home.make(job_files.AGENTS)
            path = Path(self._home.join(f"{job_files.AGENTS}/{launch.compiled_name()}"))
            if not path.exists():
                draft = path.with_name(f"{path.name}.{os.getpid()}")
                launch.write_compiled_zip(draft)
                draft.replace(path)
            self._agent = str(path)
        return self._agent

    def _follow(
        self, files: JobFiles, number: str, position: Position, *, is_silent: bool = False
    ) -> FollowedJob:
        known = self._feeds.jobs.get(files.id)
        job = FollowedJob(files, number, position, self._now, is_silent=is_silent)
        if known is not None:
            job.state, job.seen_at = known.state, known.seen_at
            if known.is_over:
                job.end(known.final)
        self._stagings.serve(job, known)
        self._feeds.add(job)
        self._ends.replaced(job)
        self._queue.poke()
        return job

    def _op_track(self, frame: Json, answer: Answer) -> None:
        """Send what is there of a job from some position on, and all that comes."""
        files = JobFiles(self._home, str(frame["id"]))
        if not files.has_begun:
            files.close()
            raise JobFilesError(f"job {frame['id']} was never submitted")
        self._submit(files, frame, answer)

    def _op_untrack(self, frame: Json, answer: Answer) -> None:
        self._feeds.drop(str(frame["id"]))
        answer({"ok": True})

    def _job(self, frame: Json) -> FollowedJob:
        """A job that is followed; if it was not, only its place in the queue is told."""
        identity = str(frame["id"])
        if identity in self._feeds.jobs:
            return self._feeds.jobs[identity]
        files = JobFiles(self._home, identity)
        number = files.number
        if not number:
            files.close()
            raise JobFilesError(f"job {identity} was never submitted")
        return self._follow(files, number, Position(frame), is_silent=True)

    def _op_cancel(self, frame: Json, answer: Answer) -> None:
        """End a job; answered when it is out of the queue."""
        grace = frame.get("grace")
        self._ends.wish(self._job(frame), job_files.CANCEL, answer, grace)

    def _op_suspend(self, frame: Json, answer: Answer) -> None:
        """Put a job back into the queue, and hold it there."""
        self._ends.wish(self._job(frame), job_files.SUSPEND, answer)

    def _op_resume(self, frame: Json, answer: Answer) -> None:
        """Hold a job no longer."""
        self._ends.wish(self._job(frame), job_files.RUN, answer)

    def _op_resize(self, frame: Json, answer: Answer) -> None:
        """Let an elastic job have fewer nodes, or more again; answered when it is on the disk."""
        job = self._job(frame)
        job.files.limit_nodes(int(frame["nodes"]))
        if job.staging is not None:
            job.staging.tell_limit()
        answer({"ok": True})

    def _op_forget(self, frame: Json, answer: Answer) -> None:
        """End a job if need be, and remove its directory."""
        identity = str(frame["id"])
        if identity in self._feeds.gone:
            self._remove(identity, answer)
            return
        try:
            job = self._job(frame)
        except JobFilesError:
            self._remove(identity, answer)
            return

        def on_asked(answered: bool) -> None:
            state = self._queue.states.get(job.number)
            if not answered:
                answer(refusal_of(UNKNOWN))
            elif state is None or state.is_final or job.is_over:
                self._remove(identity, answer)
            else:
                self._ends.wish(job, job_files.CANCEL, lambda _: self._remove(identity, answer), 0)

        ending = words(END, job.number)
        self._commands.run(ending, lambda _result: self._queue.when_asked(on_asked))

    def _remove(self, identity: str, answer: Answer) -> None:
        self._feeds.drop(identity)
        self._feeds.gone.discard(identity)
        try:
            files = JobFiles(self._home, identity)
        except MissingJobError:
            answer({"ok": True})
            return
        files.leave_array()
        path = files.directory.path
        files.close()

        def on_removed(result: Result) -> None:
            kept = Silence(f"{path} cannot be removed: {result.stderr.strip()}")
            answer({"ok": True} if result.ok else refusal_of(kept))

        self._commands.run(["rm", "-rf", "--", path], on_removed)
