"""Google's and Azure's stores of a test's own: fake-gcs-server, built with Go, and azurite, of npm.

Both are had once for each machine, as versitygw is. fake-gcs-server takes objects by Google's JSON
protocol and by signed addresses only, and obstore sends them by the XML protocol: what passes them
on says of each that its address is signed. Uploads in parts it does not know at all; what passes
them on does (`google_parts.py`).
"""

import base64
import contextlib
import email.utils
import hashlib
import hmac
import json
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

import pytest
from cluster.ports import free_port
from google_parts import Answer, GoogleParts
from program_cache import Done, go_program, had, run

GCS: Final = "v1.52.2"
AZURITE: Final = "3.35.0"
ACCOUNT: Final = "devstoreaccount1"
KEY: Final = (
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)
"""Everybody's: the emulator has no other."""
LIMIT_S: Final = 60.0


@dataclass(frozen=True)
class CloudStore:
    """A store, while it runs."""

    scheme: str
    port: int
    variables: Callable[[int], dict[str, str]]
    """What a user sets to reach it at a port."""
    make: Callable[[str], None]
    """Makes a bucket."""


def fake_gcs_server() -> Path:
    """Google's store, as a program."""
    return go_program("fake-gcs-server", "github.com/fsouza/fake-gcs-server", GCS)


def azurite() -> Path:
    """Azure's store, as a program."""
    package = ("--no-audit", "--no-fund", "--ignore-scripts", f"azurite@{AZURITE}")

    def installed(folder: Path) -> Done:
        return run(["npm", "install", "--prefix", str(folder), *package], {})

    return had("azurite", AZURITE, installed) / "node_modules" / ".bin" / "azurite-blob"


@contextlib.contextmanager
def google(folder: Path) -> Iterator[CloudStore]:
    """Google's store."""
    port = free_port()
    command = [str(fake_gcs_server()), "-scheme", "http", "-host", "127.0.0.1", "-port", str(port)]
    command += ["-backend", "filesystem", "-filesystem-root", str(folder / "objects")]
    command += ["-public-host", f"127.0.0.1:{port}"]
    (folder / "objects").mkdir()

    def make(name: str) -> None:
        address = f"http://127.0.0.1:{port}/storage/v1/b?project=any"
        urllib.request.urlopen(address, data=json.dumps({"name": name}).encode()).close()

    with _running(command, port, folder / "log"), _signing(port) as passed_on:
        yield CloudStore(
            "gs",
            passed_on,
            lambda port: {"STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{port}"},
            make,
        )


@contextlib.contextmanager
def azure(folder: Path) -> Iterator[CloudStore]:
    """Azure's store."""
    port = free_port()
    command = [str(azurite()), "--blobHost", "127.0.0.1", "--blobPort", str(port), "--silent"]
    command += ["--location", str(folder), "--skipApiVersionCheck", "--disableTelemetry"]
    with _running(command, port, folder / "log"):
        yield CloudStore(
            "az",
            port,
            lambda port: {
                "AZURE_STORAGE_ENDPOINT": f"http://127.0.0.1:{port}/{ACCOUNT}",
                "AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT,
                "AZURE_STORAGE_ACCOUNT_KEY": KEY,
            },
            lambda name: _make_container(port, name),
        )


@pytest.fixture(scope="module", params=[google, azure], ids=["gs", "az"])
def cloud_store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CloudStore]:
    """Each of the stores in turn, for the tests of a module."""
    with request.param(tmp_path_factory.mktemp("cloud")) as store:
        yield store


@contextlib.contextmanager
def _running(command: list[str], port: int, log: Path) -> Iterator[None]:
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        deadline = time.monotonic() + LIMIT_S
        while True:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(LIMIT_S)


def _make_container(port: int, name: str) -> None:
    """Make a container, with the signature that the account's key gives."""
    headers = {
        "x-ms-date": email.utils.formatdate(usegmt=True),
        "x-ms-version": "2021-08-06",
    }
    signed = "\n".join(f"{key}:{value}" for key, value in sorted(headers.items()))
    resource = f"/{ACCOUNT}/{ACCOUNT}/{name}\nrestype:container"
    text = "PUT" + "\n" * 12 + signed + "\n" + resource
    digest = hmac.new(base64.b64decode(KEY), text.encode(), hashlib.sha256).digest()
    headers["Authorization"] = f"SharedKey {ACCOUNT}:{base64.b64encode(digest).decode()}"
    address = f"http://127.0.0.1:{port}/{ACCOUNT}/{name}?restype=container"
    urllib.request.urlopen(urllib.request.Request(address, method="PUT", headers=headers)).close()


class _Signing(BaseHTTPRequestHandler):
    """Passes requests on; those that put an object look signed."""

    protocol_version = "HTTP/1.1"
    target: int
    parts: GoogleParts

    def _pass_on(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        if len(body) < length:  # whoever sent it was killed
            self.close_connection = True
            return
        said = self.parts.answer(self.command, self.path, body, self._put)
        self._answer(*(said or self._asked(self.command, self.path, body, dict(self.headers))))

    def _put(self, path: str, body: bytes) -> Answer:
        return self._asked("PUT", path, body, {"Content-Type": "application/octet-stream"})

    def _asked(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> Answer:
        if method == "PUT":
            path += f"{'&' if '?' in path else '?'}X-Goog-Algorithm=any"
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.target}{path}",
            data=body or None,
            method=method,
            headers={key: value for key, value in headers.items() if key != "host"},
        )
        try:
            with urllib.request.urlopen(request) as answer:  # noqa: S310 - of this machine
                return answer.status, dict(answer.headers), answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, dict(error.headers), error.read()

    def __getattr__(self, name: str) -> Callable[[], None]:
        if name.startswith("do_"):
            return self._pass_on
        raise AttributeError(name)

    def _answer(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.send_response_only(status)
        length = str(len(body))
        for key, value in headers.items():
            if key.lower() == "content-length":
                length = value
            elif key.lower() not in {"connection", "transfer-encoding"}:
                self.send_header(key, value)
        self.send_header("Content-Length", length)
        if self.command == "PUT" and "etag" not in map(str.lower, headers):
            self.send_header("ETag", f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"')
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its signature
        pass


@contextlib.contextmanager
def _signing(port: int) -> Iterator[int]:
    handler = type("Handler", (_Signing,), {"target": port, "parts": GoogleParts()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
