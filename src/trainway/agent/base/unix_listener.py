"""Unix sockets on which agents listen, for their own user alone.

The file is nobody else's to open, and the directory nobody else's to enter; both are modes that
somebody may have changed. So the kernel is asked besides who is at the other end.
"""

from __future__ import annotations

import json
import os
import socket
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.agent.base.directory import Directory
    from trainway.json_types import Json


BACKLOG = 64
PATH_LIMIT = 100
ROOT = 0
_CREDENTIALS = struct.Struct("3i")
"""The format of a peer's process, user and group."""


def listen(directory: Directory, name: str) -> socket.socket:
    """A socket in a directory, in place of one that an earlier process left there."""
    directory.remove(name)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    path = directory.join(name)
    if len(path) > PATH_LIMIT:
        path = f"/proc/self/fd/{directory.fd}/{name}"
    mask = os.umask(0o177)
    try:
        listener.bind(path)
    finally:
        os.umask(mask)
    listener.listen(BACKLOG)
    listener.setblocking(False)
    return listener


def accept(listener: socket.socket) -> socket.socket | None:
    """The next client; None: there is none, or it is another user's."""
    try:
        accepted, _ = listener.accept()
    except OSError:
        return None
    if not is_ours(accepted):
        accepted.close()
        return None
    accepted.setblocking(False)
    return accepted


def is_ours(accepted: socket.socket) -> bool:
    """Whether the process at the other end has our user, or may do everything anyway."""
    try:
        data = accepted.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    except OSError:
        return False
    _, user, _ = _CREDENTIALS.unpack(data)
    return user in (os.geteuid(), ROOT)


def parsed(line: bytes) -> Json:
    """The object in a line; ValueError where there is none."""
    try:
        value = json.loads(line)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    if not isinstance(value, dict):
        raise ValueError("it is not an object")
    return value
