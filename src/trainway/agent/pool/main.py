"""Start the agent of a pool: `python -m trainway.agent pool DIR`.

It detaches itself and returns as soon as it can be reached on its socket. It leaves when it has had
nothing to do for a minute, and when it is told to by SIGTERM; jobs run on then, and the next agent
takes them over. With `--foreground` it stays, for a service manager or a debugger.
"""

from __future__ import annotations

import json
import os
import posixpath
import signal

from trainway.agent.base.clock import Clock
from trainway.agent.base.daemon import (
    EXIT_ERROR,
    EXIT_USAGE,
    READY,
    StartError,
    detached,
    keep_turning,
    lock,
    own_directory,
    use_log,
)
from trainway.agent.base.directory import Directory
from trainway.agent.base.event_loop import EventLoop
from trainway.agent.kubelet import process_tree
from trainway.agent.kubelet.command import raise_file_limit
from trainway.agent.pool.pool import Pool
from trainway.agent.pool.requests import handle
from trainway.agent.pool.socket import PoolSocket
from trainway.agent.pool.state import State
from trainway.agent.transfer.link import Archive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainway.agent.base.daemon import Report

USAGE = "usage: python -m trainway.agent pool [--foreground] [--idle=SECONDS] DIR"
IDLE_SECONDS = 60.0
LOOK_SECONDS = 1.0


def main(arguments: Sequence[str]) -> int:
    """Start a pool agent; the exit status."""
    flags = [item for item in arguments if item.startswith("--")]
    paths = [item for item in arguments if not item.startswith("--")]
    idle = [item.partition("=")[2] for item in flags if item.startswith("--idle=")]
    others = {item for item in flags if not item.startswith("--idle=")} - {"--foreground"}
    if len(paths) != 1 or others or not all(_is_number(item) for item in idle):
        os.write(2, USAGE.encode() + b"\n")
        return EXIT_USAGE
    path = posixpath.abspath(paths[0])
    seconds = float(idle[-1]) if idle else IDLE_SECONDS
    if "--foreground" in flags:
        return _run(path, seconds, _say)
    report = detached(lambda report: _run(path, seconds, report))
    if report == READY:
        return 0
    _say(report)
    return EXIT_ERROR


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


def _say(text: bytes) -> None:
    if text != READY:
        os.write(2, text + b"\n")


def _run(path: str, idle_seconds: float, report: Report) -> int:
    """Be the agent."""
    try:
        own_directory(path)
        directory = Directory(path)
        lock(directory)
        use_log(directory)
        state = State(directory)
    except (OSError, StartError) as error:
        report(f"{path}: {error}".encode())
        return EXIT_ERROR
    os.chdir("/")
    os.umask(0o077)
    raise_file_limit()
    loop = EventLoop()
    clock = Clock()
    pool = Pool(state, loop, clock, _Archives(directory).archive)
    pool.start()
    pool.socket = PoolSocket(
        directory, loop, pool.journal_of, lambda request, answer: handle(pool, request, answer)
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.on_signal(number, loop.stop)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    _write_identity(directory)
    _Idleness(pool, state, loop, clock, idle_seconds).look()
    report(READY)
    keep_turning(loop)
    directory.remove("agent.sock")
    pool.close()
    return 0


def _write_identity(directory: Directory) -> None:
    pid = os.getpid()
    identity = {
        "pid": pid,
        "boot_id": process_tree.boot_id(),
        "start_time": process_tree.start_time(pid),
    }
    directory.replace("agent.json", json.dumps(identity).encode())


class _Archives:
    """The agent as one file, made when the first host needs it."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._made: Archive | None = None

    def archive(self) -> Archive:
        """The file that goes to hosts."""
        if self._made is None:
            from pathlib import Path  # noqa: PLC0415 - slow, and not needed without SSH

            from trainway.agent.base import launch  # noqa: PLC0415 - the same

            digest = launch.digest()
            name = f"agent-{digest}.pyz"
            launch.write_zip(Path(self._directory.join(f"{name}.new")))
            Path(self._directory.join(f"{name}.new")).replace(self._directory.join(name))
            self._made = Archive(self._directory.join(name), digest)
            for old in os.listdir(self._directory.path):
                if old.startswith("agent-") and old.endswith(".pyz") and old != name:
                    self._directory.remove(old)
        return self._made


class _Idleness:
    """Ends the agent when nobody needs it, or when its directory is gone."""

    def __init__(
        self, pool: Pool, state: State, loop: EventLoop, clock: Clock, seconds: float
    ) -> None:
        self._pool = pool
        self._state = state
        self._loop = loop
        self._clock = clock
        self._seconds = seconds
        self._since: float | None = None

    def look(self) -> None:
        """Look once a second."""
        now = self._clock.now()
        if not self._pool.is_idle:
            self._since = None
        elif self._since is None:
            self._since = now
        if self._state.is_removed or (
            self._since is not None and now - self._since >= self._seconds
        ):
            self._loop.stop()
            return
        self._loop.call_later(LOOK_SECONDS, self.look)
