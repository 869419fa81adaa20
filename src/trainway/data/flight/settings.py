"""How a head or worker is started: words of the command line, and variables where those are silent.

Kubeflow's image is started as `head HOST PORT` and `worker HOST PORT` with variables of its
LeaderWorkerSet; both work here too.
"""

import argparse
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Final

from trainway.data.flight.contract import HEAD, HEALTH_PORT, PORT, TOKEN, WORKER
from trainway.data.flight.head import PATIENCE_S
from trainway.errors import UsageError

_EVERYWHERE: Final = {"", "0.0.0.0", "::"}  # noqa: S104 - as upstream's image does
_LAST_PORT: Final = 65_535
_OUTSIDE: Final = "192.0.2.1:9"
"""An address that nobody has: the way to it is the way to other machines."""


@dataclass(frozen=True)
class Settings:
    """What a process of a cache is told."""

    role: str
    host: str
    port: int
    health_port: int
    folder: Path
    name: str
    advertised: str
    """The host under which others reach it."""
    table: str = ""
    workers: int = 0
    head: str = ""
    token: str = ""
    patience_s: float = PATIENCE_S

    @property
    def location(self) -> str:
        """Where it listens."""
        return f"grpc://{self.host or '0.0.0.0'}:{self.port}"  # noqa: S104 - as upstream's does


def parse(words: Sequence[str], environment: Mapping[str, str]) -> Settings:
    """Read the command line; what is missing comes from variables."""
    given = _parser().parse_args(words)
    head = given.head or _leader(environment)
    host = given.host
    if host in _EVERYWHERE:
        host = _own_address(head or _OUTSIDE) or socket.gethostname()
    advertised = _resolved(given.advertise or host)
    found = Settings(
        given.role,
        given.host,
        given.port,
        _number(given.health_port or environment.get("HEALTH_PORT") or str(HEALTH_PORT)),
        Path(given.folder or environment.get("TRAINWAY_CACHE_FOLDER") or "/tmp/trainway-cache"),  # noqa: S108
        given.name or _name(environment) or f"{advertised}:{given.port}",
        advertised,
        given.table
        or environment.get("TRAINWAY_CACHE_TABLE")
        or environment.get("METADATA_LOC", ""),
        _number(given.workers)
        if given.workers
        else max(0, _number(environment.get("LWS_GROUP_SIZE") or "1") - 1),
        head,
        environment.get(TOKEN, ""),
        given.patience,
    )
    if found.health_port > _LAST_PORT:
        raise UsageError(f"{found.health_port} is not a port", hint=f"there are 0 to {_LAST_PORT}")
    if not 0 < found.patience_s < inf:
        raise UsageError(f"--patience: {found.patience_s:g} is not a number of seconds")
    if found.role == HEAD and not found.table:
        raise UsageError("a head needs a table", hint="add --table URI, or set METADATA_LOC")
    if found.role == WORKER and not found.head:
        raise UsageError("a worker needs a head", hint="add --head HOST:PORT")
    return found


def _name(environment: Mapping[str, str]) -> str:
    """The index of a pod stays the same when it is replaced."""
    index = environment.get("JOB_COMPLETION_INDEX") or environment.get("LWS_WORKER_INDEX")
    return f"worker-{index}" if index else ""


def _resolved(host: str) -> str:
    """An address for a name that others may not know."""
    try:
        return socket.gethostbyname(host)
    except OSError:
        return host


def _own_address(towards: str) -> str:
    """The address of this machine as another one sees it; no packet is sent."""
    host, _, port = towards.rpartition(":")
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((host, int(port)))
            return str(probe.getsockname()[0])
    except (OSError, ValueError):
        return ""


def _leader(environment: Mapping[str, str]) -> str:
    address = environment.get("LWS_LEADER_ADDRESS", "")
    return f"{address}:{PORT}" if address else ""


def _number(word: str) -> int:
    if not word.isascii() or not word.isdigit():
        raise UsageError(f"{word!r} is not a number")
    return int(word)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m trainway.data.flight",
        description="Serve a table to jobs as Arrow Flight: one head, and as many workers as you"
        " like. A head without workers serves the table itself.",
    )
    parser.add_argument("role", choices=(HEAD, WORKER))
    parser.add_argument("host", nargs="?", default="0.0.0.0", help="where to listen")  # noqa: S104
    parser.add_argument("port", nargs="?", type=int, default=PORT, help="0 for any that is free")
    parser.add_argument("--table", help="Parquet file or folder, or Iceberg's *.metadata.json")
    parser.add_argument("--workers", help="how many workers the head waits for; 0 by default")
    parser.add_argument("--head", metavar="HOST:PORT", help="where a worker reports")
    parser.add_argument("--name", help="of a worker; the same after a restart")
    parser.add_argument("--advertise", metavar="HOST", help="the host that clients are told")
    parser.add_argument("--folder", help="where the table is kept; it should outlive a restart")
    parser.add_argument(
        "--patience",
        type=float,
        default=PATIENCE_S,
        metavar="SECONDS",
        help="how long a worker may be silent before others load its files; %(default)g by default",
    )
    parser.add_argument("--health-port", help=f"of /ready; {HEALTH_PORT} by default, 0 for any")
    return parser
