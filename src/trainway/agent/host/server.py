"""The host agent's process: its socket, its life from the first connection to the last pod.

It stays as long as there is a client or a pod, and a while longer; what it knows is on disk, so
that the next one goes on from there.
"""

from __future__ import annotations

import json
import os
import signal

from trainway.agent.base import linux, unix_listener
from trainway.agent.base.clock import Clock
from trainway.agent.base.daemon import (
    READY,
    StartError,
    keep_turning,
    lock,
    own_directory,
    use_log,
)
from trainway.agent.base.directory import Directory
from trainway.agent.base.event_loop import EventLoop
from trainway.agent.base.own_program import agent_command
from trainway.agent.host import rsh
from trainway.agent.host.facts import base_environment, facts
from trainway.agent.host.join_server import JoinServer
from trainway.agent.host.lent_credentials import LentCredentials
from trainway.agent.host.machine import PROGRAMS, Machine
from trainway.agent.host.notice_watch import NoticeWatch
from trainway.agent.host.operations import Operations
from trainway.agent.host.registry import JobRegistry
from trainway.agent.host.self_shutdown import SelfShutdown
from trainway.agent.host.shared_holdings import SharedHoldings, machine_root
from trainway.agent.kubelet import process_tree
from trainway.agent.kubelet.processes import ProcessTable
from trainway.agent.supervisor.recovery import AGENT_LOST
from trainway.agent.transfer.blobs import Blobs
from trainway.agent.transfer.connection import Connection

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from trainway.agent.transfer.host_events import Retired, SpotNotice
    from trainway.json_types import Json


SOCKET = "host.sock"
LOCK = "host.lock"
LOG = "host.log"
IDENTITY = "daemon.json"
CONNECTION_LIMIT = 1024
CHECK_SECONDS = 5.0
SILENCE = 120.0
"""How long a client may be silent before it counts as gone, in seconds; one that is there sends a
frame a second."""


class HostServer:
    """Listens for clients, and ends when nobody needs it."""

    def __init__(
        self,
        home: Directory,
        loop: EventLoop,
        version: str,
        idle: float,
        own: Json | None = None,
        shared: str = "",
    ) -> None:
        self._home = home
        self._loop = loop
        self._idle = idle
        clock = Clock()
        environment = base_environment(os.environ, home.join(PROGRAMS))
        machine = Machine(home, loop, ProcessTable(loop), clock, environment)
        blobs = Blobs(home)
        self._clock = clock
        self._registry = JobRegistry(machine, blobs, with_ssh=own is None)
        here: Json = {"home": home.path, "version": version, "mounts": machine.can_mount}
        here.update(own or {"arbitrates": True})
        root = (shared or machine_root()) if own is None else ""
        others = SharedHoldings(root, home.path) if root else None
        self._operations = Operations(machine, self._registry, blobs, {**facts(), **here}, others)
        self._joins = JoinServer(home, loop, machine.processes, self._registry.pod)
        self._operations.on_pod = self._on_pod
        self._shutdown = SelfShutdown(home, machine.processes, environment)
        self._operations.on_attend = self._shutdown.attend
        self._notices = NoticeWatch(loop, self._tell_notice)
        self._operations.on_watch_notices = self._notices.begin
        lent = LentCredentials(home, environment)
        self._operations.on_lend = lent.take
        self._connections: dict[Connection, tuple[int, float]] = {}
        """How many frames had come over each connection when it was last heard, and when."""
        self._needed_at = clock.now()
        self._leaving = False
        self._registry.load()
        self._socket = self._listen()
        loop.on_signal(signal.SIGTERM, self._leave)
        loop.on_signal(signal.SIGINT, self._leave)
        self._check_idle()

    def _listen(self) -> socket.socket:
        listener = unix_listener.listen(self._home, SOCKET)
        self._loop.watch(listener.fileno(), on_readable=self._accept)
        return listener

    def _accept(self) -> None:
        accepted = unix_listener.accept(self._socket)
        if accepted is None:
            return
        if len(self._connections) >= CONNECTION_LIMIT:
            accepted.close()
            return
        connection = Connection(accepted, self._loop, self._on_frame, self._on_close)
        self._connections[connection] = (0, self._clock.now())

    def _on_frame(self, connection: Connection, frame: Json) -> None:
        if frame.get("op") == "retire":
            self._retire(connection)
        else:
            self._operations.handle(connection, frame)

    def _retire(self, connection: Connection) -> None:
        """Make way for another version, unless somebody is served or a pod runs."""
        others = any(item.owner for item in self._connections)
        may = not others and not self._registry.busy
        answer: Retired = {"event": "retired", "ok": may}
        connection.answer(answer)
        if may:
            self._stop_listening()
            connection.leave()
            self._leaving = True

    def _on_close(self, connection: Connection) -> None:
        self._connections.pop(connection, None)
        self._operations.closed(connection)
        self._needed_at = self._clock.now()
        if self._leaving:
            self._check_left()

    def _tell_notice(self, notice: SpotNotice) -> None:
        """Let all clients know that the cloud takes this machine."""
        for connection in list(self._connections):
            if connection.owner:
                connection.answer(notice)

    def _on_pod(self) -> None:
        self._joins.look()
        if self._leaving:
            self._check_left()

    def _check_idle(self) -> None:
        """Go when there was nothing to do for long enough, or when the home was removed."""
        now = self._clock.now()
        self._drop_silent(now)
        self._operations.expire_holdings()
        for job in self._registry.live():
            if job.is_removed:
                job.kill("Removed", "the files of the job were removed")
        self._shutdown.look(busy=self._registry.busy)
        if self._connections or self._registry.busy or self._shutdown.is_on:
            self._needed_at = now
        if now - self._needed_at >= self._idle or os.fstat(self._home.fd).st_nlink == 0:
            self._leave()
            return
        self._loop.call_later(min(CHECK_SECONDS, self._idle), self._check_idle)

    def _drop_silent(self, now: float) -> None:
        """Close connections that nobody can be at the other end of."""
        for connection, (frames, heard) in list(self._connections.items()):
            if connection.frames > frames:
                self._connections[connection] = (connection.frames, now)
            elif now - heard > SILENCE:
                connection.close()

    def _leave(self) -> None:
        """Stop all pods and go; the next daemon finds out what is left to say about them."""
        if self._leaving:
            return
        self._leaving = True
        self._stop_listening()
        for job in self._registry.live():
            for pod in job.live:
                pod.interrupt(AGENT_LOST)
        self._check_left()

    def _stop_listening(self) -> None:
        self._home.remove(SOCKET)
        self._loop.forget(self._socket.fileno())
        self._socket.close()

    def _check_left(self) -> None:
        if not self._registry.busy:
            self._notices.close()
            self._operations.close()
            self._loop.stop()


def run(
    path: str,
    version: str,
    idle: float,
    report: Callable[[bytes], None],
    own: Json | None = None,
    shared: str = "",
) -> int:
    """Be the daemon of a home directory; the exit status.

    `own` is what is known of a host that nobody reaches by SSH. `shared` is where agents tell each
    other what they hold, if not where all of the machine do.
    """
    try:
        own_directory(path)
        home = Directory(path)
        lock(home, LOCK)
    except (OSError, StartError) as error:
        report(f"{path}: {error}".encode())
        return 1
    use_log(home, LOG)
    os.chdir("/")
    os.umask(0o022)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        linux.become_subreaper()
    except linux.SystemCallError as error:
        os.write(2, f"orphans cannot be adopted here: {error}\n".encode())
    python, _, _, archive = agent_command()
    rsh.install(path, python, archive)
    loop = EventLoop()
    HostServer(home, loop, version, idle, own, shared)
    identity: Json = {"pid": os.getpid(), "version": version, "boot_id": process_tree.boot_id()}
    home.replace(IDENTITY, json.dumps(identity).encode())
    report(READY)
    keep_turning(loop)
    return 0
