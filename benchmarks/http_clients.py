"""What our HTTP costs beside http.client and httpx: `python benchmarks/http_clients.py`.

These are the figures of decision 3. Each client is measured twice: how much longer a command takes
to start that imports it, beside what every command imports anyway, and how long one request takes
over a unix socket on a connection of its own. CPU time is what a busy machine does not change.
httpx is no dependency; where it is not installed, it is left out.
"""

import importlib.util
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingMixIn, UnixStreamServer

if __name__ == "__main__":
    sys.path[:1] = [__file__.rpartition("/benchmarks/")[0] or "."]

from benchmarks.suite import Row, Rows, run
from benchmarks.workbench import median

STARTS = 21
REQUESTS = 400
PATH = "/api/v1/jobs"
BODY = b'{"items":[]}'
_EVERY_COMMAND = (
    "import json, socket, time, urllib.parse, click; "
    "import trainway.errors, trainway.sdk.address, trainway.sdk.sse"
)
_IMPORTS = {
    "our own": "import trainway.sdk.http_exchange",
    "http.client": "import http.client",
    "httpx": "import httpx",
}


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Be quiet."""

    def address_string(self) -> str:
        return "unix"


class _Server(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True


def _own(path: str) -> bytes:
    from trainway.sdk.address import Address  # noqa: PLC0415 - measured apart
    from trainway.sdk.http_exchange import Exchange  # noqa: PLC0415

    exchange = Exchange(Address(socket=path), 10.0)
    exchange.send("GET", PATH, {"Accept": "application/json"}, b"")
    content = exchange.read()
    exchange.close()
    return content


def _standard(path: str) -> bytes:
    import http.client  # noqa: PLC0415 - measured apart
    import socket  # noqa: PLC0415

    connection = http.client.HTTPConnection("localhost")
    connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.sock.connect(path)
    connection.request("GET", PATH, headers={"Accept": "application/json", "Connection": "close"})
    content = connection.getresponse().read()
    connection.close()
    return content


def _httpx(path: str) -> bytes:
    import httpx  # type: ignore[import-not-found]  # noqa: PLC0415 - no dependency of ours

    with httpx.Client(transport=httpx.HTTPTransport(verify=False, uds=path)) as client:
        content: bytes = client.get(f"http://localhost{PATH}").content
    return content


_REQUESTS = {"our own": _own, "http.client": _standard, "httpx": _httpx}


def _clients() -> list[str]:
    return [name for name in _IMPORTS if name != "httpx" or importlib.util.find_spec("httpx")]


def imports() -> Iterator[Row]:
    """How much longer a command takes to start."""
    codes = {"": _EVERY_COMMAND}
    codes |= {name: f"{_EVERY_COMMAND}; {_IMPORTS[name]}" for name in _clients()}
    walls: dict[str, list[float]] = {name: [] for name in codes}
    cpus: dict[str, list[float]] = {name: [] for name in codes}
    for _ in range(STARTS):
        for name, code in codes.items():
            before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            walls[name].append(time.perf_counter() - begun)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            cpus[name].append(spent)
    for name in _clients():
        wall = (median(walls[name]) - median(walls[""])) * 1000
        cpu = (median(cpus[name]) - median(cpus[""])) * 1000
        fastest = (min(walls[name]) - min(walls[""])) * 1000
        yield Row(f"start with {name}", wall, "ms", None, f"fastest {fastest:.1f}, CPU {cpu:.1f}")


def requests() -> Iterator[Row]:
    """How long one request takes, with its connection."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "socket")
        server = _Server(path, _Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            for name in _clients():
                yield _timed(name, _REQUESTS[name], path)
        finally:
            server.shutdown()
            server.server_close()


def _timed(name: str, request: Callable[[str], bytes], path: str) -> Row:
    if request(path) != BODY:
        raise SystemExit(f"{name} did not read the answer")
    taken = []
    for _ in range(REQUESTS):
        begun = time.perf_counter()
        request(path)
        taken.append((time.perf_counter() - begun) * 1000)
    return Row(f"a request with {name}", median(taken), "ms", None, f"fastest {min(taken):.2f}")


def _rows(chosen: list[Callable[[], Iterator[Row]]]) -> Rows:
    print(f"{os.cpu_count()} CPUs, Python {sys.version.split()[0]}")
    for measure in chosen:
        yield from measure()


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:], {"imports": imports, "requests": requests}, _rows))
