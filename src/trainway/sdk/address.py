"""Where the server is: a unix socket under the home directory, or what the environment says.

TRAINWAY_HOME     directory of the embedded server, its database and its jobs (~/.trainway)
TRAINWAY_SERVER   another server: http://host:port, https://host:port or unix:/path/to/socket
TRAINWAY_TOKEN    what to show to it; one of this machine, of our own home, is shown its own
"""

import json
import os
import socket
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from trainway.errors import UsageError

HOME: Final = "TRAINWAY_HOME"
SERVER: Final = "TRAINWAY_SERVER"
TOKEN: Final = "TRAINWAY_TOKEN"  # noqa: S105 - the name of a variable

_PORTS: Final = {"http": 80, "https": 443}
_LOOPBACK: Final = 127
"""The first number of every address of a machine to itself."""
_EVERY_HOST: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - what servers may say
"""How this machine reaches a server that listens on all addresses."""


@dataclass(frozen=True)
class Address:
    """A server's socket, or its host and port."""

    socket: str = ""
    """The path of a unix socket; it is empty where host and port count."""
    host: str = "localhost"
    port: int = 0
    is_tls: bool = False
    token: str = field(default="", repr=False)

    @property
    def is_here(self) -> bool:
        """Whether the server runs on this machine, and so sees its files and programs."""
        return bool(self.socket) or is_loopback(self.host)

    def __str__(self) -> str:
        if self.socket:
            return f"unix:{self.socket}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.is_tls else 'http'}://{host}:{self.port}"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    if host.lower() in ("localhost", "::1"):
        return True
    try:
        return socket.inet_pton(socket.AF_INET, host)[0] == _LOOPBACK
    except (OSError, ValueError):
        return False


def parse_address(text: str, token: str = "") -> Address:
    """Read the address of a server, as TRAINWAY_SERVER has it."""
    if text.startswith("unix:"):
        path = text.removeprefix("unix:").removeprefix("//")
        if path:
            return Address(socket=path, token=token)
    try:
        parts = urlsplit(text)
        if parts.scheme in _PORTS and parts.hostname and parts.path in ("", "/"):
            port = parts.port or _PORTS[parts.scheme]
            return Address("", parts.hostname, port, parts.scheme == "https", token)
    except ValueError:  # a port that is no number, or half an IPv6 address
        pass
    hint = "write http://HOST:PORT or unix:/PATH, as in TRAINWAY_SERVER=http://localhost:8080"
    raise UsageError(f"{text!r} is not the address of a server", hint=hint)


def configured_address() -> Address | None:
    """The server that the environment names; None means the embedded one."""
    server = os.environ.get(SERVER, "")
    if not server:
        return None
    address = parse_address(server, os.environ.get(TOKEN, ""))
    if address.token or address.socket:
        return address
    return Home.of_environment().with_own_token(address)


@dataclass(frozen=True)
class Home:
    """The directory of the embedded server."""

    path: Path

    @classmethod
    def of_environment(cls) -> "Home":
        """TRAINWAY_HOME, else ~/.trainway."""
        named = os.environ.get(HOME)
        return cls(Path(named).absolute() if named else Path.home() / ".trainway")

    @property
    def log(self) -> Path:
        """What the server writes about itself."""
        return self.path / "server.log"

    def server_info(self) -> dict[str, Any]:
        """What the last server wrote down about itself: pid, socket, version; empty if nothing."""
        try:
            info = json.loads((self.path / "server.json").read_bytes())
        except (OSError, ValueError):
            return {}
        return info if isinstance(info, dict) else {}

    @property
    def token_path(self) -> Path:
        """Where the server keeps what it wants to be shown over TCP."""
        return self.path / "token"

    def token(self) -> str:
        """What is to be shown over TCP; empty if it cannot be known."""
        try:
            text = self.token_path.read_text().strip()
        except (OSError, ValueError):
            return ""
        return "" if text.startswith("sha256:") else text

    def with_own_token(self, address: Address) -> Address:
        """The address with this home's token, if it is where this home's own server listens now.

        The host becomes the very one that the server says: the same port of another address of
        this machine may be somebody else's, who must not get the token.
        """
        info = self.server_info()
        named, _, port = str(info.get("listen", "")).rpartition(":")
        host = _EVERY_HOST.get(named.strip("[]"), named.strip("[]"))
        is_ours = address.host == host or (address.host == "localhost" and is_loopback(host))
        if not is_ours or port != str(address.port) or address.is_tls:
            return address
        if not listens(self.address(info)):
            return address
        return replace(address, host=host, token=self.token())

    def address(self, info: dict[str, Any]) -> Address:
        """Where the embedded server listens."""
        return Address(socket=str(info.get("socket") or self.path / "server.sock"))


def listens(address: Address) -> bool:
    """Whether something accepts connections at a unix socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(address.socket)
        except OSError:
            return False
    return True
