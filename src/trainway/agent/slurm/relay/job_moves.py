"""Jobs that come to the cluster from another place, and jobs that go on elsewhere.

A job that comes brings its journal and its output, which lie here before Slurm hears of it: its
driver goes on from them. A job that goes is held by Slurm, then given up, and what it wrote is sent
before its end in the queue is told. All of it may be asked for twice.
"""

from __future__ import annotations

import os

from trainway.agent.slurm.files.job_files import JobFiles, JobFilesError, MissingJobError
from trainway.agent.slurm.relay.relay_answers import refusal_of
from trainway.agent.transfer.feed import Position
from trainway.agent.transfer.outputs import scan
from trainway.agent.transfer.restored import PART, RestoredError, restore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.base.directory import Directory
    from trainway.agent.slurm.relay.followed_job import FollowedJob
    from trainway.agent.slurm.relay.job_ends import JobEnds
    from trainway.agent.slurm.relay.relay_frames import ArriveAnswer, LeaveAnswer, RelayAnswer
    from trainway.agent.slurm.relay.submission import Submission
    from trainway.agent.transfer.ssh_failure import Failure
    from trainway.json_types import Json

    Answer = Callable[[RelayAnswer], None]
    Follow = Callable[[JobFiles, str, Position], FollowedJob]


class JobMoves:
    """Carries out what a server asks for a job that changes its place."""

    def __init__(
        self, home: Directory, submission: Submission, ends: JobEnds, follow: Follow
    ) -> None:
        self._home = home
        self._submission = submission
        self._ends = ends
        self._follow = follow

    def operation(self, name: str) -> Callable[[Json, Answer], None] | None:
        """What an `op` stands for; None: it is not one of these."""
        return {"arrive": self._arrive, "put": self._put, "leave": self._leave}.get(name)

    def _arrive(self, frame: Json, answer: Answer) -> None:
        """Make the directory of a job, and say what of its output is there."""
        files = JobFiles(self._home, str(frame["id"]), make=True)
        try:
            files.directory.make("output")
            found = {file.path: [file.size, file.mtime_ns] for file in scan(files.directory)}
            ready: ArriveAnswer = {"ok": True, "begun": files.has_begun, "outputs": found}
        finally:
            files.close()
        answer(ready)

    def _put(self, frame: Json, answer: Answer) -> None:
        """Take a piece of a file; the last one is answered when the file is there."""
        files = JobFiles(self._home, str(frame["id"]))
        try:
            if files.has_begun:
                raise JobFilesError(f"job {files.id} has begun here, and writes its own output")
            _check_order(files.directory, frame)
            restore(files.directory, frame)
        except RestoredError as error:
            raise JobFilesError(str(error)) from None
        finally:
            files.close()
        if frame.get("last"):
            answer({"ok": True})

    def _leave(self, frame: Json, answer: Answer) -> None:
        """Have Slurm hold a job and then give it up; answered when it is out of the queue.

        What the server lacks of it is sent as that of any job, with its state in Slurm last.
        """
        nothing: LeaveAnswer = {"ok": True, "gone": True}
        try:
            files = JobFiles(self._home, str(frame["id"]))
        except MissingJobError:
            answer(nothing)
            return
        if not files.has_begun:
            files.close()
            answer(nothing)
            return

        def on_number(number: str, failure: Failure | None) -> None:
            if failure is not None:
                files.close()
                answer(refusal_of(failure))
                return
            self._ends.leave(self._follow(files, number, Position(frame)), answer)

        self._submission.submit(files, on_number)


def _check_order(directory: Directory, frame: Json) -> None:
    """Refuse a piece whose predecessor is missing: it may not have been written."""
    offset = int(frame.get("offset") or 0)
    if not offset:
        return
    above, _, name = str(frame["path"]).rpartition("/")
    try:
        with directory.folder(above) as folder:
            size = os.stat(f"{name}{PART}", dir_fd=folder, follow_symlinks=False).st_size
    except FileNotFoundError:
        size = 0
    if size != offset:
        raise JobFilesError(f"a piece of {frame['path']!r} is missing: {size} bytes of it are here")
