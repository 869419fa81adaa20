"""Run a command in a pod of this host, from outside: over SSH, or by a pod beside it.

    host join HOME JOB

is all that the key of an MPI job can do here. The command, with the pod it is for, is in
SSH_ORIGINAL_COMMAND. The process is not started here but by the host agent, which has the pod's
environment, mounts and marks and sees to its end; this process lends its standard files, waits, and
takes over the exit status. When it goes, because its connection was closed, so does the command.
"""

from __future__ import annotations

import json
import os
import select
import socket
from array import array

from trainway.agent.host.peer_files import COMMAND_VARIABLE, POD_WORD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainway.agent.host.join_requests import JoinAnswer, JoinRequest


NAME = "join.sock"
EXIT_ERROR = 255
GONE = select.POLLERR | select.POLLHUP


class Session:
    """A command that shall run in a pod."""

    def __init__(self, job: str, pod: str, command: str) -> None:
        self.job = job
        self.pod = pod
        self.command = command
        """The command, which a shell reads."""


def main(arguments: Sequence[str]) -> int:
    """Run `host join HOME JOB`; the exit status is that of the command."""
    home, job = arguments
    word, _, command = os.environ.get(COMMAND_VARIABLE, "").partition(" ")
    if not word.startswith(POD_WORD) or not command:
        return _fail(f"this key is for the pods of job {job} alone")
    return attach(home, Session(job, word[len(POD_WORD) :], command))


def attach(home: str, session: Session) -> int:
    """Have the host agent run a command with our standard files; its exit status."""
    _open_missing_files()
    try:
        connection = _connect(home)
    except OSError as error:
        return _fail(f"the agent of this host cannot be reached: {error.strerror}")
    request: JoinRequest = {
        "job": session.job,
        "pod": session.pod,
        "command": session.command,
    }
    # Escapes keep the bytes of a command that is no UTF-8.
    data = json.dumps(request).encode("ascii") + b"\n"
    files = array("i", [0, 1, 2])
    try:
        sent = connection.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
        if sent < len(data):
            connection.sendall(data[sent:])
        answer = _answer(connection)
    except OSError as error:
        return _fail(f"the agent of this host is gone: {error.strerror}")
    if answer is None:
        return EXIT_ERROR
    if "exit" not in answer:
        return _fail(str(answer.get("error") or "the agent of this host is gone"))
    return int(answer["exit"])


def _connect(home: str) -> socket.socket:
    """By way of the open directory, since the path of a socket must be short."""
    directory = os.open(home, os.O_PATH | os.O_DIRECTORY)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(f"/proc/self/fd/{directory}/{NAME}")
    except OSError:
        connection.close()
        raise
    finally:
        os.close(directory)
    return connection


def _open_missing_files() -> None:
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number, which is this one


def _answer(connection: socket.socket) -> JoinAnswer | None:
    """What the agent says in the end; None where nobody is left to be told."""
    received = b""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    heard_by = {1, 2}
    for number in heard_by:
        poll.register(number, 0)
    while heard_by:
        for number, events in poll.poll():
            if number == connection.fileno():
                data = connection.recv(65536)
                received += data
                if not data or received.endswith(b"\n"):
                    answer: JoinAnswer = json.loads(received or b"{}")
                    return answer
            elif events & GONE:
                poll.unregister(number)
                heard_by.discard(number)
    return None


def _fail(message: str) -> int:
    os.write(2, f"trainway: {message}\n".encode("utf-8", "surrogateescape"))
    return EXIT_ERROR
