"""A gate for processes on other hosts, whose numbers mean nothing here; see gate.py."""

import socket
import struct

from gate import Visitor
from host_processes import HostProcess, described


def process_of(visitor: Visitor) -> HostProcess:
    """The process of a visitor, by the number that it has on this machine."""
    size = struct.calcsize("3i")
    who = visitor.connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    pid, _, _ = struct.unpack("3i", who)
    process = described(pid)
    assert process is not None, f"{visitor.name} has ended"
    return process
