"""Which attempt of a job counts, and how one that does not finds out.

Slurm may begin a job anew while its first attempt still runs on a node that is cut off. The token
of an attempt is the number of the Slurm job and how often it was requeued. A driver writes its
token first; every two seconds it looks whether it still is its own, writes a heartbeat, and only
then tells its pods to go on. Pods that are not told so for ten seconds kill themselves. A new
driver waits that long after the last heartbeat of another one, unless that one said that it left.
"""

from __future__ import annotations

import errno
import os
import re
from contextlib import suppress

from trainway.agent.base.journal import Journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from trainway.agent.base.directory import Directory


TOKEN, HEARTBEAT, LEFT = "token", "heartbeat", "left"
INTERRUPT, FENCE = "interrupt", "fence"
"""The ways to stop a pod that did nothing wrong: with its grace period, or at once."""
BEAT_SECONDS = 2.0
TICK_SECONDS = 1.0
SILENT_TICKS = 10
SILENT_BEATS = 30
LEASE_SECONDS = SILENT_TICKS * TICK_SECONDS + BEAT_SECONDS
"""How long pods run on without a heartbeat, in seconds."""
_TOKEN = re.compile(r"\s*(?P<job>\d+(_\d+)?)\.(?P<restarts>\d+)\s*$", re.ASCII)


class StaleError(Exception):
    """A newer attempt of the job has begun."""


class Token:
    """One attempt."""

    def __init__(self, job: str = "", restarts: int = 0) -> None:
        self.job = job
        """The number of the Slurm job: `123`, or `123_4` of an array. Empty: there is none yet."""
        self.restarts = restarts
        """How often Slurm requeued it before this attempt."""
        self._numbers = (*(int(part) for part in job.split("_") if part), restarts)

    @staticmethod
    def parse(text: str) -> Token:
        """The token with that text; the lowest one where it is none."""
        found = _TOKEN.match(text)
        return Token(found.group("job"), int(found.group("restarts"))) if found else Token()

    @staticmethod
    def of(environ: Mapping[str, str]) -> Token:
        """The token of the Slurm job that this process is in.

        One task of an array has the number of the whole array as its own, so that is never used.
        """
        job, array = environ.get("SLURM_JOB_ID", ""), environ.get("SLURM_ARRAY_JOB_ID")
        if array:
            job = f"{array}_{environ.get('SLURM_ARRAY_TASK_ID', '')}"
        return Token.parse(f"{job}.{environ.get('SLURM_RESTART_COUNT') or '0'}")

    def __str__(self) -> str:
        return f"{self.job}.{self.restarts}"

    def __lt__(self, other: Token) -> bool:
        return self._numbers < other._numbers

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Token) and self._numbers == other._numbers

    def __hash__(self) -> int:
        return hash(self._numbers)


class DriverLease:
    """The right of a driver to act for its job, which every heartbeat renews."""

    def __init__(self, directory: Directory, token: Token) -> None:
        self.directory = directory
        self.token = token
        self.previous = Token()
        """The attempt that counted before this one; the lowest one where there was none."""

    def claim(self) -> None:
        """Make this the attempt that counts; StaleError where a newer one does."""
        self.previous = self._read(TOKEN)
        self._check(self.previous)
        self.directory.replace(TOKEN, str(self.token).encode(), durable=True)

    def wait_seconds(self) -> float:
        """How long something of an earlier attempt may still run.

        The file server's clock tells, which both drivers share.
        """
        if self.previous == Token() or self._read(LEFT) == self.previous:
            return 0.0
        try:
            last = os.stat(HEARTBEAT, dir_fd=self.directory.fd).st_mtime
        except FileNotFoundError:
            return 0.0
        claimed = os.stat(TOKEN, dir_fd=self.directory.fd).st_mtime
        return max(0.0, LEASE_SECONDS - (claimed - last))

    def beat(self) -> None:
        """Say that this driver lives; StaleError where it should not any more."""
        self._check(self._read(TOKEN))
        try:
            self.directory.replace(HEARTBEAT, str(self.token).encode())
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            os.utime(HEARTBEAT, dir_fd=self.directory.fd)  # needs no room

    def check(self) -> None:
        """StaleError where a newer attempt has begun."""
        self._check(self._read(TOKEN))

    def compare(self, restarts: int) -> None:
        """StaleError where Slurm has requeued the job more often than it had for this attempt."""
        self._check(Token(self.token.job, restarts))

    def leave(self) -> None:
        """Say that nothing of this attempt runs any more."""
        self.directory.replace(LEFT, str(self.token).encode(), durable=True)

    def _check(self, found: Token) -> None:
        if self.token < found:
            raise StaleError(f"attempt {found} has started: attempt {self.token} is out of date")

    def _read(self, name: str) -> Token:
        try:
            return Token.parse(self.directory.read(name).decode("ascii", "replace"))
        except FileNotFoundError:
            return Token()


class GuardedJournal(Journal):
    """A journal that only the attempt that counts can write to.

    A driver that was stopped for a while, and goes on, looks before it writes.
    """

    def __init__(self, directory: Directory, now: Callable[[], float], lease: DriverLease) -> None:
        super().__init__(directory, now)
        self._lease = lease
        self._looked_at = now()

    def append(self, type_: str, fields: Mapping[str, object], *, durable: bool = False) -> int:
        """Add a record; StaleError where a newer attempt has begun."""
        if self._now() - self._looked_at > 2 * BEAT_SECONDS:
            with suppress(OSError):  # then this cannot be written either
                self._lease.check()
            self._looked_at = self._now()
        return super().append(type_, fields, durable=durable)


class TaskLiveness:
    """Which tasks a driver has not heard for too long, though they were asked at every beat.

    Much longer than tasks wait for their driver: one whose file system hangs is not gone.
    """

    def __init__(self, limit: int = SILENT_BEATS) -> None:
        self._limit = limit
        self._silent: dict[str, int] = {}

    def heard(self, uid: str) -> None:
        """A task said something."""
        self._silent.pop(uid, None)

    def missed(self, uids: Iterable[str]) -> set[str]:
        """Those that have been silent too long, of those that run at this beat."""
        self._silent = {uid: self._silent.get(uid, 0) + 1 for uid in uids}
        return {uid for uid, beats in self._silent.items() if beats > self._limit}


class Pulse:
    """Whether a driver is heard.

    It counts what this process sees of time: while Slurm has it stopped, none passes.
    """

    def __init__(self, limit: int = SILENT_TICKS) -> None:
        self._limit = limit
        self._silent = 0

    def heard(self) -> None:
        """The driver said something."""
        self._silent = 0

    @property
    def silence(self) -> int:
        """For how many seconds nothing was heard."""
        return self._silent

    def tick(self) -> bool:
        """A second has passed; whether the silence has lasted too long."""
        self._silent += 1
        return self._silent >= self._limit
