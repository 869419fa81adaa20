"""What ssh knows of a host before anybody connects: its address, port and user.

`ssh -G` reads the client's configuration and asks no network. The other hosts of a pool reach a
host at that address unless the pool says another one, since a jump host is of no use to them.
"""

import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from trainway.backends.login.ssh_process import PROGRAM
from trainway.backends.ssh.section import Host
from trainway.errors import UnavailableError, UsageError
from trainway.json_types import Json

Run = Callable[[Sequence[str]], tuple[int, str, str]]
"""Runs a program; its exit status, what it printed, and what it complained of."""

_LIMIT_S: Final = 10
_KEPT_S: Final = 10.0
"""How long an answer counts: the configuration of ssh may change."""


@dataclass(frozen=True)
class Found:
    """What ssh would do."""

    hostname: str
    port: int
    user: str


class Lookup:
    """Asks ssh about hosts, and remembers for a moment what it said."""

    def __init__(
        self,
        run: Run | None = None,
        resolve: Callable[[str], str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._run = run or _run
        self._resolve = resolve or resolved
        self._clock = clock
        self._known: dict[str, tuple[float, Json]] = {}

    def described(self, host: Host) -> Json:
        """The host as a pool agent is told of it."""
        key, now = repr(host), self._clock()
        known = self._known.get(key)
        if known is None or now - known[0] > _KEPT_S:
            self._known[key] = known = now, self._asked(host)
        return known[1]

    def _asked(self, host: Host) -> Json:
        status, out, err = self._run(command(host))
        if status:
            raise UsageError(
                f"ssh does not understand host {host.name}: {err.strip() or f'status {status}'}",
                hint=f"try: ssh -G {host.host}",
            )
        return description(host, parsed(out), self._resolve)


def command(host: Host) -> list[str]:
    """What asks ssh about a host."""
    return [PROGRAM, "-G", *host.ssh(), host.host]


def parsed(text: str) -> Found:
    """What `ssh -G` printed."""
    fields = dict(line.split(" ", 1) for line in text.splitlines() if " " in line)
    return Found(fields.get("hostname", ""), int(fields.get("port", "22")), fields.get("user", ""))


def description(host: Host, found: Found, resolve: Callable[[str], str]) -> Json:
    """The host as a pool agent is told of it."""
    told: Json = {
        "name": host.name,
        "destination": f"{host.user}@{host.host}" if host.user else host.host,
        "port": host.port or found.port,
        "user": host.user or found.user,
        "address": resolve(host.address or found.hostname),
        "options": list(host.options),
        "python": host.python,
    }
    told |= {"identity": host.identity} if host.identity else {}
    told |= {"env": dict(host.env)} if host.env else {}
    return told | dict(host.limits)


def resolved(name: str) -> str:
    """The address of a name; the name itself where this machine cannot tell."""
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except OSError:
        return name
    addresses = [str(entry[4][0]) for entry in found]
    return next((address for address in addresses if ":" not in address), addresses[0])


def _run(words: Sequence[str]) -> tuple[int, str, str]:
    try:
        ended = subprocess.run(  # noqa: S603 - the user's own ssh, with words of his settings
            list(words),
            check=False,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            timeout=_LIMIT_S,
        )
    except FileNotFoundError:
        raise UnavailableError(
            "there is no ssh on this machine", hint="install the OpenSSH client"
        ) from None
    except subprocess.TimeoutExpired:
        return 1, "", f"it took longer than {_LIMIT_S} s"
    return ended.returncode, ended.stdout, ended.stderr
