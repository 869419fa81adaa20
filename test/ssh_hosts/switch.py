"""The network between the hosts: a bridge in a namespace that nothing else uses.

Each host is plugged in with a pair of interfaces, and so is this machine, with the only interface
that it sees of all that. A port that is down is a cable that was pulled: nothing is refused,
packets are lost. All of it goes away with the process that holds the namespace, and that one ends
when its input does.
"""

import os
import subprocess
from collections.abc import Iterable
from typing import Final

SUBNETS: Final = 64
CLIENT_PORT: Final = "client"


class UnavailableError(Exception):
    """The hosts cannot be had on this machine; the message says why, in one line."""


class Switch:
    """The bridge, with this machine plugged in."""

    def __init__(self) -> None:
        self._subnet = 0
        self.interface = ""
        """What this machine sees of it."""
        self._holder = subprocess.Popen(
            ["unshare", "--net", "sh", "-c", "echo ready; cat"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        try:
            if not self._holder.stdout or not self._holder.stdout.readline():
                raise UnavailableError("a network namespace: not allowed here")
            self._batch(self._holder.pid, ["link add br0 type bridge", "link set br0 up"])
            self._plug_in_this_machine()
        except BaseException:
            self.close()
            raise

    def address(self, number: int) -> str:
        """An address on the network."""
        return f"10.199.{self._subnet}.{number}"

    def plug(self, pid: int, port: str, number: int) -> None:
        """Give the namespace of a process an interface eth0 on this network."""
        card = f"02:00:0a:c7:{self._subnet:02x}:{number:02x}"  # a host that boots anew has the same
        peer = f"peer name eth0 address {card} netns {pid}"
        self._batch(self._holder.pid, [f"link add {port} type veth {peer}"])
        self._raise(port)
        self._batch(pid, ["link set lo up", *self._interface("eth0", number)])

    def remove(self, port: str) -> None:
        """Remove a port with its cable."""
        self._batch(self._holder.pid, [f"link delete {port}"])

    def unplug(self, port: str) -> None:
        """Pull the cable."""
        self._batch(self._holder.pid, [f"link set {port} down"])

    def plug_again(self, port: str) -> None:
        """Put the cable back."""
        self._batch(self._holder.pid, [f"link set {port} up"])

    def close(self) -> None:
        """Remove the bridge, its ports, and this machine's interface."""
        if self.interface:  # now, since the kernel takes its time to remove a namespace
            self._batch(os.getpid(), [f"link delete {self.interface}"])
        if self._holder.stdin:
            self._holder.stdin.close()
        self._holder.wait()
        if self._holder.stdout:
            self._holder.stdout.close()

    def _plug_in_this_machine(self) -> None:
        """On a subnet that no other switch has; the name of the interface reserves it."""
        failure = ""
        for subnet in range(SUBNETS):
            name = f"trainwayssh{subnet}"
            peer = f"peer name {name} netns {os.getpid()}"
            try:
                self._batch(self._holder.pid, [f"link add {CLIENT_PORT} type veth {peer}"])
            except UnavailableError as error:
                failure = str(error)
                continue
            self._subnet, self.interface = subnet, name
            self._raise(CLIENT_PORT)
            self._batch(os.getpid(), self._interface(name, 1))
            return
        raise UnavailableError(f"no interface can be made: {failure}")

    def _raise(self, port: str) -> None:
        self._batch(self._holder.pid, [f"link set {port} master br0", f"link set {port} up"])

    def _interface(self, name: str, number: int) -> list[str]:
        return [f"address add {self.address(number)}/24 dev {name}", f"link set {name} up"]

    def _batch(self, pid: int, lines: Iterable[str]) -> None:
        """Commands of `ip` in the network namespace of a process."""
        done = subprocess.run(
            ["nsenter", "--target", str(pid), "--net", "ip", "-batch", "-"],
            input="".join(f"{line}\n" for line in lines),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise UnavailableError(f"ip: {done.stderr.strip().splitlines()[0]}")
