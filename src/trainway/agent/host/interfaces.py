"""The network interfaces of this machine and their addresses."""

from __future__ import annotations

import array
import fcntl
import socket
import struct

_SIOCGIFCONF = 0x8912
_ENTRY = 40
_NAME = 16
_MOST = 1024
_MOST_BITS = 16
"""A network with more free bits may have loopback and container networks in it."""
_IF_INET6 = "/proc/net/if_inet6"


def interfaces(if_inet6: str = _IF_INET6) -> dict[str, str]:
    """The name of the interface by each address of the machine."""
    return {**_version_4(), **_version_6(if_inet6)}


def _version_4() -> dict[str, str]:
    buffer = array.array("B", bytes(_MOST * _ENTRY))
    address, length = buffer.buffer_info()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        request = struct.pack("iL", length, address)
        answer = fcntl.ioctl(asked.fileno(), _SIOCGIFCONF, request)
    size = struct.unpack("iL", answer)[0]
    data = buffer.tobytes()[:size]
    found = {}
    for start in range(0, size, _ENTRY):
        # An alias such as eth0:1 is no interface of its own.
        name = data[start : start + _NAME].partition(b"\0")[0].decode().partition(":")[0]
        found[socket.inet_ntoa(data[start + _NAME + 4 : start + _NAME + 8])] = name
    return found


def _version_6(path: str) -> dict[str, str]:
    try:
        with open(path, encoding="ascii") as file:
            lines = file.read().splitlines()
    except OSError:
        return {}
    found = {}
    for line in lines:
        fields = line.split()
        found[socket.inet_ntop(socket.AF_INET6, bytes.fromhex(fields[0]))] = fields[-1]
    return found


def defaults(address: str, addresses: set[str]) -> dict[str, str]:
    """What tells the processes of a gang on several hosts which interface they share."""
    name = interfaces().get(address, "") if len(addresses) > 1 else ""
    if not name:
        return {}
    # Open MPI tells all hosts what one has, and their interfaces may have other names.
    shared = network(addresses) or name
    return {
        "GLOO_SOCKET_IFNAME": name,
        "NCCL_SOCKET_IFNAME": name,
        "OMPI_MCA_btl_tcp_if_include": shared,
        "OMPI_MCA_oob_tcp_if_include": shared,
        "PRTE_MCA_prte_if_include": shared,
    }


def network(addresses: set[str]) -> str:
    """The smallest network of IPv4 that has all addresses; empty where others would be in it."""
    try:
        numbers = [int.from_bytes(socket.inet_aton(item), "big") for item in addresses]
    except OSError:
        return ""
    differing = 0
    for number in numbers:
        differing |= number ^ numbers[0]
    free = differing.bit_length()
    if free > _MOST_BITS:
        return ""
    first = (numbers[0] >> free << free).to_bytes(4, "big")
    return f"{socket.inet_ntoa(first)}/{32 - free}"
