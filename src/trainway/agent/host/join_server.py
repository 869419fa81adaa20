"""The host agent's side of `join`: starts commands in pods, for whoever holds a job's key.

A client sends one line of JSON and its standard files, and gets one line when the command has
ended: `{"exit": 0}`, or `{"error": "..."}`. A pod that is not there yet is waited for, since a
launcher may be quicker than its workers. A client that goes away ends its command.
"""

from __future__ import annotations

import json
import os
import posixpath
import pwd
import socket
from array import array
from contextlib import suppress

from trainway.agent.base import unix_listener
from trainway.agent.host.join import NAME
from trainway.agent.kubelet.container import MAIN
from trainway.agent.kubelet.processes import Listener

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trainway.agent.base.directory import Directory
    from trainway.agent.base.event_loop import EventLoop, Timer
    from trainway.agent.host.join_requests import JoinAnswer, JoinRequest
    from trainway.agent.kubelet.container import Container
    from trainway.agent.kubelet.pod import Pod
    from trainway.agent.kubelet.processes import Process, ProcessTable

    Find = Callable[[str, str], "Pod | None"]

PATIENCE = 60.0
"""How long a command waits for its pod to run, in seconds."""
GRACE = 3.0
"""How long a command has to clean up when its client is gone, in seconds."""
REQUEST_LIMIT = 1 << 20
GUEST_LIMIT = 4096
FILES = 3
SHELL = "/bin/sh"
OTHER_SHELLS = ("csh", "tcsh")
"""The shells with a language of their own, in which a launcher writes for users who have them."""


def shell(login: str) -> str:
    """What runs a command for a user with that login shell."""
    return login if posixpath.basename(login) in OTHER_SHELLS else SHELL


def host_container(pod: Pod) -> Container | None:
    """The container that commands join: that with the job's SSH keys, else the first main one."""
    spec, secret = pod.identity.role.pod_spec, pod.identity.plan.mpi.get("secret")
    volumes = {
        item["name"]
        for item in spec.get("volumes") or []
        if secret and (item.get("secret") or {}).get("secretName") == secret
    }
    found = [item for item in pod.containers if item.kind == MAIN]
    for item in found:
        if any(mount.get("name") in volumes for mount in item.spec.get("volumeMounts") or []):
            return item
    return found[0] if found else None


class JoinServer:
    """Listens for clients, as long as the host agent lives."""

    def __init__(
        self, home: Directory, loop: EventLoop, processes: ProcessTable, find: Find
    ) -> None:
        self.loop = loop
        self.processes = processes
        self.find = find
        self._guests: set[Guest] = set()
        self._socket = unix_listener.listen(home, NAME)
        loop.watch(self._socket.fileno(), on_readable=self._accept)

    def look(self) -> None:
        """Try again what waits for a pod; to be called when a pod has changed."""
        for guest in list(self._guests):
            guest.try_to_start()

    def forget(self, guest: Guest) -> None:
        """Let go of one that is over."""
        self._guests.discard(guest)

    def close(self) -> None:
        """Take no more clients."""
        self.loop.forget(self._socket.fileno())
        self._socket.close()

    def _accept(self) -> None:
        accepted = unix_listener.accept(self._socket)
        if accepted is not None and len(self._guests) < GUEST_LIMIT:
            self._guests.add(Guest(accepted, self))
        elif accepted is not None:
            accepted.close()


class Guest(Listener):
    """One client and its command."""

    def __init__(self, accepted: socket.socket, server: JoinServer) -> None:
        self._socket = accepted
        self._server = server
        self._received = b""
        self._files: list[int] = []
        self._request: JoinRequest | None = None
        self._process: Process | None = None
        self._timer: Timer | None = server.loop.call_later(PATIENCE, self._give_up)
        self._answered = False
        self._closed = False
        server.loop.watch(accepted.fileno(), on_readable=self._receive)

    def try_to_start(self) -> None:
        """Start the command if its pod runs and it has not been started yet."""
        if self._request is None or self._process is not None or self._closed:
            return
        pod = self._server.find(self._request["job"], self._request["pod"])
        container = host_container(pod) if pod is not None else None
        if container is None:
            return
        argv = [shell(pwd.getpwuid(os.getuid()).pw_shell), "-c", self._request["command"]]
        try:
            stdin, stdout, stderr = self._files
            self._process = container.join(argv, self, (stdin, stdout, stderr))
        except OSError as error:
            self._answer({"error": f"the command cannot be started: {error.strerror}"})
            return
        if self._process is not None:
            self._stop_timer()
            self._close_files()

    def on_exit(self, process: Process) -> None:
        """Tell the client how the command ended."""
        reason = process.reason.decode("utf-8", "replace")
        self._answer({"error": reason} if reason else {"exit": process.exit_code})

    def on_gone(self, process: Process) -> None:  # noqa: ARG002 - the one there is
        """Nothing of it is left to be killed."""
        self._stop_timer()

    def _receive(self) -> None:
        room = socket.CMSG_SPACE(FILES * array("i").itemsize)
        try:
            data, extra, _, _ = self._socket.recvmsg(65536, room, socket.MSG_CMSG_CLOEXEC)
        except BlockingIOError:
            return
        except OSError:
            data, extra = b"", []
        for level, kind, content in extra:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                self._files += _numbers(content)
        if len(self._files) > FILES or (extra and self._request is not None):
            self._answer({"error": "a request has three files"})
            return
        if not data:
            self._leave()
        elif self._request is None:
            self._received += data
            if b"\n" in self._received:
                self._take(self._received.partition(b"\n")[0])
            elif len(self._received) > REQUEST_LIMIT:
                self._answer({"error": "the command is too long"})

    def _take(self, line: bytes) -> None:
        try:
            request = unix_listener.parsed(line)
            complete = {"job", "pod", "command"} <= request.keys()
        except ValueError:
            complete = False
        if not complete or len(self._files) != FILES:
            self._answer({"error": "a request has a job, a pod, a command and three files"})
            return
        self._request = {
            "job": str(request["job"]),
            "pod": str(request["pod"]),
            "command": str(request["command"]),
        }
        self.try_to_start()

    def _give_up(self) -> None:
        if self._request is None:
            self._answer({"error": "nothing was asked for"})
        else:
            self._answer({"error": f"pod {self._request['pod']} does not run on this host"})

    def _leave(self) -> None:
        """The client is gone: its command has a moment to end by itself."""
        process = self._process
        self._close()
        if process is not None and not process.exited:
            processes = self._server.processes
            processes.terminate(process)
            self._timer = self._server.loop.call_later(GRACE, lambda: processes.kill(process))

    def _answer(self, answer: JoinAnswer) -> None:
        if self._answered or self._closed:
            return
        self._answered = True
        with suppress(OSError):
            self._socket.send(json.dumps(answer).encode() + b"\n")
        self._close()

    def _close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._stop_timer()
        self._close_files()
        self._server.loop.forget(self._socket.fileno())
        self._socket.close()
        self._server.forget(self)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close_files(self) -> None:
        for fd in self._files:
            os.close(fd)
        self._files = []


def _numbers(content: bytes) -> Sequence[int]:
    numbers = array("i")
    numbers.frombytes(content[: len(content) - len(content) % numbers.itemsize])
    return numbers
