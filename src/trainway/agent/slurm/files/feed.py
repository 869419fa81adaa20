"""`slurm feed JOBDIR`: sends what a job writes on this node, where no file system shows it.

The relay has one on the node of the driver, the driver one on each other node. Orders come over
standard input, one JSON object a line: `begin` with what need not be sent, `drain` (answered with
`drained` when all that is there now was sent), `ping` (without it this ends), `wish`, `taken` (all
of the job is known elsewhere) and `clear` (nothing of it is needed here any more). When Slurm ends
the steps of a job, this one goes on as long as it may, for what the pods write last.
"""

from __future__ import annotations

import os
import signal
import socket
from contextlib import suppress

from trainway.agent.base.clock import Clock
from trainway.agent.base.event_loop import EventLoop
from trainway.agent.host.connect import Wires
from trainway.agent.slurm.fencing import BEAT_SECONDS, TICK_SECONDS, Pulse
from trainway.agent.slurm.files.job_files import DRIVER, HEARD, NODE_LIMIT, RUN, TAKEN, JobFiles
from trainway.agent.slurm.relay.followed_job import FollowedJob
from trainway.agent.transfer import parcel
from trainway.agent.transfer.connection import Connection
from trainway.agent.transfer.feed import Position
from trainway.agent.transfer.file_names import STOPPED, WISH
from trainway.agent.transfer.job_place import opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trainway.agent.base.directory import Directory
    from trainway.agent.transfer.feed_frames import Drained, DriverStopped, FeedOver
    from trainway.json_types import Json


PAUSE = 0.5
"""The longest time between two looks, in seconds."""
CHECK_SECONDS = 0.5
SILENT_TICKS = 30
EXIT_ERROR = 1


def main(arguments: Sequence[str]) -> int:
    """Be the feed; the exit status."""
    (path,) = arguments
    for number in (signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    os.umask(0o077)
    loop = EventLoop()
    inner, outer = socket.socketpair()
    try:
        directory = opened(path)
        parcel.hold(directory)
        feed = NodeFeed(directory, loop, Clock().now)
    except OSError as error:
        os.write(2, f"there is nothing of the job here: {error}\n".encode())
        return EXIT_ERROR
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.on_signal(number, feed.leave)
    connection = Connection(inner, loop, feed.handle, lambda _connection: loop.stop())
    feed.serve(connection)
    wires = Wires(outer, loop)
    while not loop.stopped:
        wires.watch()
        loop.turn()
    if feed.is_last:
        parcel.remove(path)
    elif not feed.has_driver:
        parcel.remove_unused(directory)
    return 0


class NodeFiles(JobFiles):
    """The directory of a job on a node."""

    def __init__(self, directory: Directory) -> None:
        self.id = ""
        self.directory = directory

    @property
    def brings_output(self) -> bool:
        """Always: here it would be lost."""
        return True


class NodeFeed:
    """Sends what is new in a directory."""

    def __init__(self, directory: Directory, loop: EventLoop, now: Callable[[], float]) -> None:
        self._directory = directory
        self._loop = loop
        self._now = now
        for name in ("logs", "output"):
            directory.make(name)
        self._job: FollowedJob | None = None
        self._pulse = Pulse(SILENT_TICKS)
        self._drains: list[int] = []
        self._stopped = b""
        """What the driver wrote when it had stopped all pods; that is told when all is sent."""
        self._is_stop_told = self._is_leaving = self._is_over = False
        self.has_driver = True
        """Whether the driver is on this node, so that others may come for what is here."""
        self.is_last = False
        """Whether nobody needs that any more."""

    def serve(self, connection: Connection) -> None:
        """Send over this connection."""
        self._connection = connection
        connection.on_room = self._pump
        self._tick()

    def _tick(self) -> None:
        if self._pulse.tick():
            self._loop.stop()  # whoever was there is gone, and another one may have come
        self._loop.call_later(TICK_SECONDS, self._tick)

    def handle(self, _connection: Connection, order: Json) -> None:
        """Do what an order says."""
        self._pulse.heard()
        operation = order.get("op")
        if operation == "begin" and self._job is None:
            self.has_driver = bool(order.get("driver"))
            position = Position(order)
            position.outputs.update(parcel.untouched(self._directory))
            self._job = FollowedJob(NodeFiles(self._directory), "", position, self._now)
            self._look()
        elif operation == "drain":
            self._drains.append(int(order["number"]))
            self._look_at_the_rest()
        elif operation == "ping" and self.has_driver:
            with suppress(OSError):  # without it the driver asks Slurm
                self._directory.replace(HEARD, b"")
        elif operation == "wish":
            self._wish(str(order["word"]))
        elif operation == "limit":
            with suppress(OSError):  # it is told again with the next connection
                self._directory.replace(NODE_LIMIT, str(int(order["nodes"])).encode())
        elif operation == TAKEN:
            self._directory.replace(TAKEN, b"")
            self._loop.stop()
        elif operation == "clear":
            self.is_last = True
            self._loop.stop()

    def leave(self) -> None:
        """Slurm ends the job: go when the driver, or the last pod, has gone and all is sent."""
        if not self._is_leaving:
            self._is_leaving = True
            self._check()

    def _check(self) -> None:
        has_gone = not self._driver() if self.has_driver else parcel.is_unused(self._directory)
        if has_gone and not self.has_driver and self._pulse.silence > BEAT_SECONDS:
            self.is_last = True
            self._loop.stop()  # its driver went first
            return
        if has_gone:
            self._is_over = True
            self._look_at_the_rest()
        self._loop.call_later(CHECK_SECONDS, self._check)

    def _wish(self, word: str) -> None:
        """Tell the driver what is wanted of it; it reads that when it is asked to end."""
        try:
            self._directory.replace(WISH, word.encode())
        except OSError as error:
            os.write(2, f"the driver cannot be told to {word}: {error}\n".encode())
            return
        driver = self._driver()
        if word != RUN and driver:
            os.kill(driver, signal.SIGTERM)

    def _driver(self) -> int:
        """The driver's process; 0 where none runs here."""
        try:
            pid = int(self._directory.read(DRIVER))
            os.kill(pid, 0)
        except (OSError, ValueError):
            return 0
        return pid

    def _look(self) -> None:
        if self._job is not None:
            self._job.look(PAUSE)
            self._pump()
            delay = max(0.0, self._job.look_at - self._now())
            self._loop.call_later(min(PAUSE, delay), self._look)

    def _look_at_the_rest(self) -> None:
        if self._job is not None:
            self._job.look_at_the_rest()
            self._pump()

    def _pump(self) -> None:
        """Send what there is room for."""
        while self._job is not None and self._connection.has_room:
            frame = self._job.next()
            if frame is None:
                self._on_idle()
                return
            self._connection.stream(frame)

    def _on_idle(self) -> None:
        drains, self._drains = self._drains, []
        for number in drains:
            drained: Drained = {"event": "drained", "number": number}
            self._connection.stream(drained)
        if self._stopped and not self._is_stop_told:
            self._is_stop_told = True
            stopped: DriverStopped = {"event": "stopped", "token": self._stopped.decode()}
            self._connection.stream(stopped)
        elif not self._stopped and os.path.exists(self._directory.join(STOPPED)):
            self._stopped = self._directory.read(STOPPED)
            self._look_at_the_rest()
        if self._is_over:
            self._is_over = False
            over: FeedOver = {"event": "over"}
            self._connection.stream(over)
