"""The embedded server as a process: found, started when it is needed, stopped, replaced.

It is started detached and ends by itself when it is idle, so nobody has to own it. Two clients may
start one at the same time: the second finds the lock taken and ends, and both use the first.
"""

import errno
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

from trainway.errors import TrainwayError, UnavailableError
from trainway.sdk.address import Address, Home, listens
from trainway.sdk.disk import full_disk
from trainway.sdk.transport import Transport
from trainway.version import __version__

START_LIMIT_S: Final = 60.0
STOP_LIMIT_S: Final = 60.0
_STEP_S: Final = 0.005
_LOG_LINES: Final = 5
_ERROR: Final = "error: "
"""What the line begins with in which a server says why it ends."""
_HINT: Final = "hint: "
"""What the line begins with in which it says what to do about it."""
_LOG_BYTES: Final = 8192
_JOB_VARIABLES: Final = ("TRAINWAY_JOB_ID", "TRAINWAY_SERVER", "TRAINWAY_TOKEN")
"""What a server started from within a job must not inherit: it would count as part of the job."""


class _Detached(subprocess.Popen[bytes]):
    """A process that outlives whoever started it, which Popen would complain about."""

    def __del__(self) -> None:
        pass


_children: Final[list[_Detached]] = []
"""Servers that this process started, kept to be reaped when they end."""

Warn = Callable[[str], None]


class ServerProcess:
    """The embedded server of a home directory."""

    def __init__(self, home: Home, warn: Warn = lambda _message: None) -> None:
        self.home = home
        self._warn = warn
        self._log_start = 0

    def ensure(self) -> Address:
        """The address of a server that answers and is of this version, started if need be."""
        info = self.home.server_info()
        address = self.home.address(info)
        if not listens(address):
            return self.start()
        if info.get("version") in (None, __version__):
            return address
        return self._replaced(address, str(info["version"]))

    def start(self, options: Sequence[str] = ()) -> Address:
        """Start a server and wait until it answers."""
        self._prepare_home()
        try:
            child = self._spawn(options)
        except OSError as error:
            raise self._unusable(error) from None
        deadline = time.monotonic() + START_LIMIT_S
        while time.monotonic() < deadline:
            address = self.home.address(self.home.server_info())
            if listens(address):
                return address
            if child.poll() not in (None, 0):
                raise self._not_started(f"it ended with status {child.returncode}")
            time.sleep(_STEP_S)
        raise self._not_started(f"it did not answer within {START_LIMIT_S:.0f} s")

    def stop(self) -> bool:
        """Stop the server and wait until it is gone; False if none was running."""
        info = self.home.server_info()
        address = self.home.address(info)
        if not listens(address):
            return False
        with _process_end(int(info.get("pid") or 0)) as has_ended:
            Transport(address).request("POST", "/server/stop")
            deadline = time.monotonic() + STOP_LIMIT_S
            while listens(address) or not has_ended():
                if time.monotonic() > deadline:
                    raise UnavailableError(
                        f"the server is still running after {STOP_LIMIT_S:.0f} s"
                    )
                time.sleep(_STEP_S)
        return True

    def _replaced(self, address: Address, version: str) -> Address:
        """The server itself if it has work, else one of this version in its place."""
        try:
            active = _active_jobs(Transport(address).request("GET", "/server"))
        except TrainwayError:
            active = 0
        if active:
            self._warn(
                f"the running server is version {version}, this is {__version__}; it is replaced "
                f"when its {active} active jobs have ended"
            )
            return address
        self.stop()
        return self.start()

    def _prepare_home(self) -> None:
        try:
            self.home.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise self._unusable(error) from None
        if self.home.path.stat().st_uid != os.geteuid():
            raise UnavailableError(
                f"{self.home.path} belongs to another user",
                hint="set TRAINWAY_HOME to a directory of your own",
            )

    def _spawn(self, options: Sequence[str]) -> _Detached:
        _children[:] = [child for child in _children if child.poll() is None]
        with _private_log(self.home.log) as log:
            self._log_start = log.tell()
            child = _Detached(
                [sys.executable, "-m", "trainway.server", "--home", str(self.home.path), *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.home.path,
                env=server_environment(os.environ),
                start_new_session=True,
            )
        _children.append(child)
        return child

    def _unusable(self, error: OSError) -> UnavailableError:
        """Why nothing can be written to the home directory."""
        full = full_disk(self.home.path)
        if full or error.errno in (errno.ENOSPC, errno.EDQUOT):
            return _full(full or f"the disk of {self.home.path} is full")
        return UnavailableError(
            f"{error.filename or self.home.path}: {error.strerror}",
            hint="set TRAINWAY_HOME to another directory",
        )

    def _not_started(self, reason: str) -> UnavailableError:
        full = full_disk(self.home.path)
        if full:
            return _full(full)
        lines = last_lines(self.home, _LOG_LINES, self._log_start)
        reasons = [line.removeprefix(_ERROR) for line in lines if line.startswith(_ERROR)]
        hints = [line.removeprefix(_HINT) for line in lines if line.startswith(_HINT)]
        said = reasons[-1] if reasons else " / ".join(line.strip() for line in lines)
        message = f"the server did not start: {reason}" + (f": {said}" if said else "")
        hint = hints[-1] if reasons and hints else f"the whole log is in {self.home.log}"
        return UnavailableError(message, hint=hint)


def _full(disk: str) -> UnavailableError:
    """What to say of a disk on which a server cannot start."""
    hint = "free some space there, or set TRAINWAY_HOME to another directory"
    return UnavailableError(f"{disk}, so the server cannot start", hint=hint)


def _private_log(path: Path) -> BinaryIO:
    """The log, to be written to; it is its owner's alone, and no link to another file."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.fdopen(os.open(path, flags, 0o600), "ab")


@contextmanager
def _process_end(pid: int) -> Iterator[Callable[[], bool]]:
    """Tells whether a process has ended; one that is not there has."""
    try:
        handle = os.pidfd_open(pid)
    except (OSError, AttributeError):  # not there, or not Linux
        yield lambda: True
        return
    try:
        yield lambda: bool(select.select([handle], [], [], 0)[0])
    finally:
        os.close(handle)


def server_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment a server starts in."""
    return {name: value for name, value in environ.items() if name not in _JOB_VARIABLES}


def last_lines(home: Home, count: int, start: int = 0) -> list[str]:
    """The last lines of the server's log, from a position on."""
    try:
        with home.log.open("rb") as log:
            log.seek(max(start, log.seek(0, os.SEEK_END) - _LOG_BYTES))
            text = log.read()
    except OSError:
        return []
    return text.decode(errors="replace").splitlines()[-count:]


def _active_jobs(info: Any) -> int:
    jobs = info.get("jobs") if isinstance(info, dict) else None
    return int(jobs.get("active") or 0) if isinstance(jobs, dict) else 0
