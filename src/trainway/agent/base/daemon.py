"""How an agent becomes a process of its own: detached from who started it, alone, with a log."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import sys
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.base.directory import Directory
    from trainway.agent.base.event_loop import EventLoop

    Report = Callable[[bytes], None]

READY = b"ready"
REFUSED = b"refused: "
"""What stands before the reason of an agent that would not start with what it was given, however
often."""
EXIT_ERROR, EXIT_USAGE, EXIT_REFUSED = 1, 2, 3
DIED = b"the agent died at once: see its log"
FAILURES = 100
"""How many errors of our own may come one right after the other before the agent gives up."""


class StartError(Exception):
    """The agent cannot start. The message is for whoever started it."""


def detached(run: Callable[[Report], int]) -> bytes:
    """Run a function in a session of its own; what it reports first: READY, or why it cannot go on.

    It gets a function to report with. Its result is the exit status that nobody sees.
    """
    read, write = os.pipe()
    child = os.fork()
    if child:
        os.close(write)
        os.waitpid(child, 0)
        with os.fdopen(read, "rb") as report:
            return report.read() or DIED
    os.close(read)
    os.setsid()
    if os.fork():
        os._exit(0)

    def report_to_parent(text: bytes) -> None:
        nonlocal write
        if write < 0:
            return
        with suppress(OSError):  # whoever waited may be gone, which is no reason to stop
            os.write(write, text)
        os.close(write)
        write = -1

    status = 1
    try:
        status = run(report_to_parent)
    except BaseException:  # noqa: BLE001 - this process ends here, whatever it was
        sys.excepthook(*sys.exc_info())
    os._exit(status)


def own_directory(path: str) -> None:
    """Make a directory for ourselves, unless it is there; PermissionError: it is not ours alone.

    Its mode stays as it is, since somebody may have named a directory that others use too.
    """
    os.makedirs(path, 0o700, exist_ok=True)
    status = os.stat(path)
    if status.st_uid != os.geteuid():
        raise PermissionError(errno.EPERM, "it belongs to another user", path)
    if status.st_mode & stat.S_IWOTH:
        raise PermissionError(
            errno.EPERM, "every user can write there: choose another directory", path
        )


def lock(directory: Directory, name: str = "agent.lock") -> int:
    """Hold a lock for as long as this process lives, or keeps the file open that this gives."""
    fd = directory.open(name, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(fd)
        raise StartError("an agent is already running here") from error
    return fd


def use_log(directory: Directory, name: str = "agent.log") -> None:
    """Let standard input be empty, and all that is printed go to a log file."""
    log = directory.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    for fd in (null, log):
        os.close(fd)


def keep_turning(loop: EventLoop) -> None:
    """Run the loop of an agent of many jobs: an error in one of them must not end the others."""
    failures = 0
    while not loop.stopped:
        try:
            loop.turn()
            failures = 0
        except Exception:
            sys.excepthook(*sys.exc_info())
            failures += 1
            if failures >= FAILURES:
                raise
