"""Stages the files of a job in to its nodes, and what it writes there out to the login node.

For clusters whose nodes share no file system with it. Each time that Slurm has begun the job, its
parcel goes to all of its nodes with sbcast, and the batch script goes on; then a feed on the node
of its driver fills the job's directory here, so that all others may go on as if it were shared.
Only the feed of the attempt that Slurm runs now is listened to: what an earlier one still does
elsewhere does not get here.
"""

from __future__ import annotations

import json
import os
import sys

from trainway.agent.base.directory import Directory
from trainway.agent.slurm.commands import Commands
from trainway.agent.slurm.driver.step_failure import StepFailure
from trainway.agent.slurm.files.job_files import RUN
from trainway.agent.slurm.job_facts import look
from trainway.agent.slurm.relay.staging_lease import StagingLease
from trainway.agent.slurm.srun import join_command
from trainway.agent.transfer.file_names import AGENT
from trainway.agent.transfer.mirror import JournalCopy, Mirror
from trainway.agent.transfer.node_link import NodeLink
from trainway.agent.transfer.parcel import SENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from trainway.agent.base.event_loop import EventLoop
    from trainway.agent.slurm.commands import Result
    from trainway.agent.slurm.job_facts import JobFacts
    from trainway.agent.slurm.relay.followed_job import FollowedJob
    from trainway.agent.transfer.feed_frames import FeedStart
    from trainway.json_types import Json


DELIVERED = "delivered"
PARCEL, MARK = "parcel.pyz", "parcel.sent"
SEND_SECONDS = 3600.0
AGAIN_SECONDS = 2.0
THERE = "file exists"


def place_of(scratch: str, token: str) -> str:
    """The directory of an attempt on its nodes, as the script has it."""
    return f"{scratch}/trainway-{token}"


class Copy:
    """What is here of a job."""

    def __init__(self, directory: Directory, now: Callable[[], float]) -> None:
        self.journal = JournalCopy(directory, now)
        self.mirror = Mirror(directory, self.journal.take)


class JobStaging:
    """Stages the files of one job."""

    def __init__(
        self,
        job: FollowedJob,
        loop: EventLoop,
        commands: Commands,
        now: Callable[[], float],
        wake: Callable[[FollowedJob], None],
    ) -> None:
        self.job = job
        """The job as it is followed now."""
        self._loop = loop
        self._commands = commands
        self._wake = wake
        self._now = now
        self._directory = Directory(job.files.directory.path)
        self._lease = StagingLease(self._directory)
        self._copy: Copy | None = None
        """What is written here; None where that is another relay's."""
        self._link: NodeLink | None = None
        self._nodes = ""
        """The nodes of the job when the link began."""
        self._attempt: Json = {}
        """The attempt that has its files: its token, its agent and its node."""
        self._is_busy = self._is_closed = self._is_over = False
        self.failure = ""
        """Why its files could not be sent."""

    def _read(self) -> Json:
        try:
            found: Json = json.loads(self._directory.read(DELIVERED))
        except (OSError, ValueError):
            return {}
        return found

    def look(self) -> None:
        """See whether there is something to do; to be called whenever the queue was asked."""
        state = self.job.state
        if self._is_closed or not self._has_lease() or state is None:
            return
        has_moved = self._link is not None and state.nodes != self._nodes
        if self.job.is_over or state.is_waiting or state.is_final or has_moved:
            self._hang_up()
        if state.state == "RUNNING" and not self._is_busy and self._link is None:
            self._is_busy = True
            look(self._commands, self.job.number, self._on_facts)

    def _has_lease(self) -> bool:
        """Whether this relay writes; it goes on from what is here then."""
        try:
            has_lease = self._lease.check()
            if has_lease and self._copy is None:
                self._copy = Copy(self._directory, self._now)
                self._attempt = self._read()
        except OSError as error:
            os.write(2, f"files of job {self.job.id} cannot be kept: {error}\n".encode())
            return False
        if not has_lease:
            self._let_go()
        return has_lease

    def _let_go(self) -> None:
        self._hang_up()
        copy, self._copy = self._copy, None
        if copy is not None:
            copy.journal.close()

    def ask_to_stop(self, word: str) -> None:
        """Have the driver stop, for a reason that it is told."""
        if self._link is not None:
            self._link.order({"op": "wish", "word": word})

    def tell_limit(self) -> None:
        """Tell the driver of an elastic job how many nodes it may have."""
        limit = self.job.files.node_limit
        if self._link is not None and limit is not None:
            self._link.order({"op": "limit", "nodes": limit})

    def close(self) -> None:
        """Let go of the job; it goes on."""
        self._is_closed = True
        self._let_go()
        self._lease.close()
        self._directory.close()

    # What goes there

    def _on_facts(self, facts: JobFacts) -> None:
        if self._copy is None or not facts.is_running or not facts.batch_host:
            self._is_busy = False
            return
        token = f"{facts.number}.{facts.restarts}"
        if self._attempt.get("token") == token:
            self._connect()
            return
        if self._copy.journal.ended:  # Slurm lost its node before it could go
            self._end()
            return
        place = place_of(self.job.files.scratch, token)
        agent = f"{place}.{os.urandom(8).hex()}.pyz"
        attempt: Json = {"token": token, "place": place, "agent": agent, "node": facts.batch_host}
        attempt["group"] = 0 if facts.is_divided else None
        words = [sys.executable, "-I", "-S", self._directory.join(AGENT), "slurm", "pack"]
        words += [self._directory.path, self._directory.join(PARCEL)]
        send = ["sbcast", f"--jobid={facts.number}", self._directory.join(PARCEL), agent]
        self._run(words, lambda: self._run(send, lambda: self._mark(attempt, facts.number)))

    def _mark(self, attempt: Json, job: str) -> None:
        """Say on the nodes that the parcel is whole.

        Nothing is replaced there: what has that name already may be somebody else's.
        """
        self._directory.replace(MARK, str(attempt["agent"]).encode())

        def on_marked(result: Result) -> None:
            if self._copy is None:
                return
            if result.ok or THERE in result.stderr.lower():  # of a relay that ended meanwhile
                self._on_sent(attempt)
            else:
                self._fail(result)

        mark = self._directory.join(MARK)
        words = ("sbcast", f"--jobid={job}", mark, f"{attempt['place']}{SENT}")
        self._commands.run(words, on_marked)

    def _on_sent(self, attempt: Json) -> None:
        """The script goes on."""
        self._attempt = attempt
        self._directory.replace(DELIVERED, json.dumps(attempt).encode())
        self._connect()

    def _run(self, words: Sequence[str], done: Callable[[], None]) -> None:
        def on_end(result: Result) -> None:
            if self._copy is None:
                return
            if result.ok:
                done()
            else:
                self._fail(result)

        self._commands.run(words, on_end, seconds=SEND_SECONDS)

    def _fail(self, result: Result) -> None:
        """End the job, unless Slurm has taken it off its nodes, or is about to."""
        failure = StepFailure(result.stderr)
        self._directory.remove(PARCEL)

        def on_facts(facts: JobFacts) -> None:
            if self._copy is None or failure.is_unreachable or not facts.is_running:
                self._is_busy = False
                return
            self.failure = failure.message or f"{result.argv[0]} took too long"
            self._end()

        look(self._commands, self.job.number, on_facts)

    def _end(self) -> None:
        """Have Slurm end the job."""
        self._commands.run(("scancel", self.job.number), lambda _result: None)

    # What comes from there

    def _connect(self) -> None:
        self._is_busy = False
        self._directory.remove(PARCEL)
        attempt, state, copy = self._attempt, self.job.state, self._copy
        if state is None or copy is None or self._link is not None or self._is_over:
            return
        program = [self.job.files.python, "-I", "-S", str(attempt["agent"]), "slurm", "feed"]
        program.append(str(attempt["place"]))
        line = join_command(str(attempt["node"]), attempt["group"], program)
        line.insert(1, f"--jobid={state.bare}")
        link = NodeLink(
            str(attempt["node"]), copy.mirror, on_frame=self._on_frame, on_end=self._on_end
        )
        try:
            told: FeedStart = {"after": copy.journal.last, "driver": True}
            link.start(self._loop, line, self._commands.env, told)
        except OSError:
            return
        self._link, self._nodes = link, state.nodes
        if self.job.files.wished not in ("", RUN):
            self.ask_to_stop(self.job.files.wished)
        self.tell_limit()
        self._check_end(link)

    def _on_frame(self, link: NodeLink, frame: Json) -> None:
        if frame.get("last", True):
            self._wake(self.job)
        self._check_end(link)

    def _check_end(self, link: NodeLink) -> None:
        """Let the driver go when all that it wrote is here, and on disk."""
        if self._copy is None or not self._copy.journal.ended or self._is_over:
            return
        if self._link is link and self._copy.journal.is_complete:
            self._is_over = True
            link.order({"op": "taken"})
        elif self._link is link:
            self._loop.call_later(AGAIN_SECONDS, lambda: self._check_end(link))

    def _on_end(self, link: NodeLink, _errors: str) -> None:
        if self._link is link:
            self._link = None
            self._loop.call_later(AGAIN_SECONDS, self.look)

    def _hang_up(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            link.kill()


class JobStagings:
    """Makes a staging for each job that needs one."""

    def __init__(
        self,
        loop: EventLoop,
        now: Callable[[], float],
        env: Mapping[str, str],
        wake: Callable[[FollowedJob], None],
    ) -> None:
        """`wake` is called with a job of which something has come."""
        self._loop = loop
        self._now = now
        self._wake = wake
        # Of their own: a large parcel must not keep the queue from being asked.
        self._commands = Commands(loop, env)

    def serve(self, job: FollowedJob, known: FollowedJob | None) -> None:
        """Have a job served, where its nodes do not see its files; as `known`, if it was."""
        if known is not None and known.staging is not None:
            job.staging, known.staging = known.staging, None
            job.staging.job = job
        elif not job.files.is_shared:
            job.staging = JobStaging(job, self._loop, self._commands, self._now, self._wake)
