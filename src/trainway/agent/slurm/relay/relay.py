"""`slurm relay --home DIR`: serves one server on the login node, over standard input and output.

It holds nothing that is not on disk or in Slurm, and ends with its connection; the next one goes on
from there. Frames are those of the host agent (`record`, `log`, `output`, `blob`); every question
has a number, which its answer repeats. An error about one job leaves all others alone.
"""

from __future__ import annotations

import os
import signal
import socket
import traceback

from trainway.agent.base.clock import Clock
from trainway.agent.base.daemon import own_directory
from trainway.agent.base.directory import Directory
from trainway.agent.base.event_loop import EventLoop
from trainway.agent.host.connect import Wires
from trainway.agent.kubelet.command import raise_file_limit
from trainway.agent.slurm.commands import Commands, clean_environment
from trainway.agent.slurm.relay.operations import RelayOperations
from trainway.agent.transfer.blobs import Blobs
from trainway.agent.transfer.connection import Connection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

USAGE = "usage: slurm relay --home DIR"
EXIT_ERROR, EXIT_USAGE = 1, 2
SILENCE = 120.0
"""How long there may be no frame before nobody counts as being at the other end, in seconds."""
CHECK_SECONDS = 10.0
FAILURES = 100
"""How many errors of our own may come one right after the other before the relay gives up."""


def main(arguments: Sequence[str]) -> int:
    """Be the relay; the exit status."""
    if len(arguments) != 2 or arguments[0] != "--home" or not arguments[1]:
        os.write(2, USAGE.encode() + b"\n")
        return EXIT_USAGE
    path = os.path.abspath(os.path.expanduser(arguments[1]))
    try:
        own_directory(path)
        home = Directory(path)
        home.make("jobs")
        blobs = Blobs(home)
    except OSError as error:
        message = f"{path}: {error.strerror}; set `home` of the cluster to a shared file system"
        os.write(2, message.encode() + b"\n")
        return EXIT_ERROR
    os.chdir("/")
    os.umask(0o077)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    raise_file_limit()
    loop = EventLoop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.on_signal(number, loop.stop)
    inner, outer = socket.socketpair()
    commands = Commands(loop, clean_environment(os.environ))
    operations = RelayOperations(loop, Clock(), home, blobs, commands)
    connection = Connection(inner, loop, operations.handle, lambda _connection: loop.stop())
    operations.serve(connection)
    _Silence(loop, connection).check()
    _turn(loop, Wires(outer, loop))
    return 0


class _Silence:
    """Ends the relay when nothing was heard for long: a server asks every few seconds."""

    def __init__(self, loop: EventLoop, connection: Connection) -> None:
        self._loop = loop
        self._connection = connection
        self._frames = 0
        self._quiet = 0.0

    def check(self) -> None:
        """Look from time to time."""
        self._quiet = 0.0 if self._connection.frames > self._frames else self._quiet + CHECK_SECONDS
        self._frames = self._connection.frames
        if self._quiet > SILENCE:
            self._loop.stop()
        self._loop.call_later(CHECK_SECONDS, self.check)


def _turn(loop: EventLoop, wires: Wires) -> None:
    failures = 0
    while not loop.stopped:
        try:
            wires.watch()
            loop.turn()
            failures = 0
        except Exception:
            os.write(2, traceback.format_exc().encode("utf-8", "replace"))
            failures += 1
            if failures >= FAILURES:
                raise
