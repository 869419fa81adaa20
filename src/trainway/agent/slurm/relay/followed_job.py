"""One job that a server wants to know about: what it has not got yet, and what the queue says.

The files of a job are looked at often while it writes, and less and less while it is silent. Its
last state is told after all else: whoever hears it has everything.
"""

from __future__ import annotations

import os

from trainway.agent.slurm.relay.end_reasons import UNDELIVERED
from trainway.agent.transfer.feed import Feed
from trainway.agent.transfer.journal_tail import JournalTail
from trainway.agent.transfer.log_tail import FOLDER as LOGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from abc import abstractmethod
    from collections.abc import Callable
    from typing import Protocol

    from trainway.agent.slurm.files.job_files import JobFiles
    from trainway.agent.slurm.relay.queue_states import QueueState
    from trainway.agent.slurm.relay.relay_frames import SlurmNews
    from trainway.agent.transfer.feed import Position
    from trainway.agent.transfer.feed_frames import FedRecord
    from trainway.json_types import Json

    class Staging(Protocol):
        """What carries the files of a job, where its nodes do not see them."""

        job: FollowedJob
        failure: str
        """Why the files of the job could not be sent."""

        @abstractmethod
        def look(self) -> None:
            """See whether there is something to do."""

        @abstractmethod
        def ask_to_stop(self, word: str) -> None:
            """Have the driver stop, for a reason that it is told."""

        @abstractmethod
        def tell_limit(self) -> None:
            """Tell the driver of an elastic job how many nodes it may have."""

        @abstractmethod
        def close(self) -> None:
            """Let go of the job; it goes on."""


SHORTEST, LONGEST = 0.1, 2.0
SLOWER = 1.5
WAITING = 2.0
"""How much longer the pause is for a job that waits: it may have begun before squeue tells."""
CLOSER_SECONDS = 2.0
"""How often logs are opened: a network file system tells what is new when a file is opened."""
OUTPUT_SECONDS = 1.0
OUTPUT_SHARE = 20.0
"""The part of the time that looking for output may take."""
SETTLE_SECONDS = 3.0
"""How long a shared file system may take to show what a job wrote last."""
NO_FILES = "66:0"
"""The exit status of a batch script that waited for the job's files in vain."""
ENDED_SECONDS = {"COMPLETED": 30.0, "FAILED": 5.0}
"""How long it may take, by the state of the job, where the driver most likely wrote how the job
ended."""


class FollowedJob:
    """A job with a number of Slurm's."""

    def __init__(
        self,
        files: JobFiles,
        number: str,
        position: Position,
        now: Callable[[], float],
        *,
        is_silent: bool = False,
    ) -> None:
        """Of a silent one nothing is told but its place in the queue."""
        self.id = files.id
        self._is_silent = is_silent
        self.files = files
        self.number = number
        self.staging: Staging | None = None
        """What carries its files, where its nodes do not see them."""
        self.state: QueueState | None = None
        """What squeue said last; None: nothing yet."""
        self.seen_at = 0.0
        """When it was asked."""
        self.missing_since: float | None = None
        """Since when it is not in the queue, though nobody says that it has ended."""
        self.doubted = ""
        """An end that is believed once it is seen again."""
        self._now = now
        self._told: SlurmNews = {}
        self.journal = JournalTail(files.directory)
        self._feed = Feed(
            files.directory,
            self.journal,
            position,
            is_clear=lambda _uid: True,
            with_outputs=files.brings_output and not is_silent,
        )
        self._feed.now = now
        self._feed.quiet = lambda: self.journal.ended or self.is_over
        self._pause = SHORTEST
        self.look_at = now()
        """When to look at its files again."""
        self._output_at = self._closer_at = now()
        self.looked_closer = False
        """Whether more may be found than was seen at the last look."""
        self.final: SlurmNews = {}
        """How it ended; empty: it has not."""
        self._final_at = 0.0
        self._has_run = True
        self._last_record: Json | None = None
        self.is_told = False
        """Whether its end was handed out."""

    @property
    def is_over(self) -> bool:
        """Whether it is not in the queue any more."""
        return bool(self.final)

    @property
    def is_waiting(self) -> bool:
        """Whether nothing of it can run now."""
        return not self.is_over and self.state is not None and self.state.is_waiting

    def hurry(self) -> None:
        """Look soon, and often."""
        self._pause = SHORTEST
        self.look_at = min(self.look_at, self._now() + SHORTEST)

    def look(self, pause: float) -> bool:
        """See what is new in its files; whether anything is. `pause` is the longest to the next."""
        now = self._now()
        self.look_at = now + LONGEST
        grew = self.journal.look()
        self.looked_closer = now >= self._closer_at and not self.is_waiting
        if grew or not self.is_waiting:
            grew = self._look_at_logs() or grew
        if now >= self._output_at and (grew or not self.is_waiting):
            self._look_for_output(now)
            grew = grew or not self._feed.outputs.idle
        self._pause = SHORTEST if grew else min(pause, self._pause * SLOWER)
        if self.is_over:
            grew = grew or self._is_settled(now)
        self.look_at = now + self._pause
        if self.is_waiting and not grew:
            pause *= WAITING
            self.look_at = now + pause - now % pause  # at all that wait at once
        if self.looked_closer:
            self._closer_at = now + CLOSER_SECONDS
        return grew

    def _look_at_logs(self) -> bool:
        """See which logs grew; a closer look opens those that seem not to have."""
        grew = False
        try:
            with os.scandir(self.files.directory.join(LOGS)) as entries:
                for entry in entries:
                    has_grown = entry.stat().st_size > self._feed.logs.offset(entry.name)
                    grew = grew or has_grown
                    if has_grown or self.looked_closer:
                        self._feed.logs.touched(entry.name)
        except OSError:  # somebody removed it
            return False
        return grew

    def _look_for_output(self, now: float) -> None:
        self._feed.look()
        took = self._now() - now
        self._output_at = now + max(OUTPUT_SECONDS, took * OUTPUT_SHARE)

    def end(self, final: SlurmNews) -> None:
        """It has left the queue; what to say of it when all else is said."""
        if self.is_over:
            return
        self._has_run = final.get("state") != "CANCELLED" or not self.is_waiting
        if self.staging is not None and (self.staging.failure or final.get("exit") == NO_FILES):
            reason = self.staging.failure or "nobody sent them"
            final = {**final, "state": UNDELIVERED, "reason": reason}
        self.final, self._final_at = final, self._now()
        self.journal.look()
        self.look_at_the_rest()
        self.hurry()

    def _is_settled(self, now: float) -> bool:
        """Whether no more is to come."""
        if self.journal.ended or (self.journal.last < 0 and not self._has_run):
            return True
        patience = ENDED_SECONDS.get(str(self.final.get("state")), SETTLE_SECONDS)
        return self._is_silent or now - self._final_at >= patience

    def news(self, fields: SlurmNews) -> SlurmNews | None:
        """What is to be told of its place in the queue; None where that was told before."""
        if fields == self._told:
            return None
        self._told = fields
        return {"event": "slurm", "id": self.id, **fields}

    def next(self) -> Json | None:
        """The next frame to send; None where all is sent."""
        frame = None if self._is_silent else self._next_of_feed()
        if frame is not None and "seq" in frame:
            fed: FedRecord = {"event": "record", "id": self.id, "record": _record(frame)}
            return dict(fed)
        if frame is not None:
            return {**frame, "id": self.id}
        if self.is_over and not self.is_told and self._is_settled(self._now()):
            self.is_told = True
            last: SlurmNews = {"event": "slurm", "id": self.id, "final": True, **self.final}
            return dict(last)
        return None

    def _next_of_feed(self) -> Json | None:
        """The next frame of its files; the record of its end is the last."""
        frame = self._feed.next()
        if frame is not None and "seq" in frame and frame.get("type") == "end":
            self._last_record = frame
            self.look_at_the_rest()
            frame = self._feed.next()
        if frame is None:
            frame, self._last_record = self._last_record, None
        return frame

    def look_at_the_rest(self) -> None:
        """See what nobody writes to any more."""
        try:
            self._feed.logs.lag(os.listdir(self.files.directory.join(LOGS)))
        except OSError:  # somebody removed it
            return
        if self._feed.with_outputs:
            self._feed.outputs.look(self._now(), everything=True, strict=False)

    def close(self) -> None:
        """Let go of its files."""
        if self.staging is not None:
            self.staging.close()
        self._feed.close()
        self.files.close()


def _record(frame: Json) -> Json:
    """The record in a frame, which lies in it among the frame's own fields."""
    return {key: value for key, value in frame.items() if (key, value) != ("event", "record")}
