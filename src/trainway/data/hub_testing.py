"""A server of the tests that answers as the hub's public API does, and counts what it gives.

It is no hub: it knows one repository, and of the API what `hub.py` asks for. Large files come from
another host name, as the hub's do.
"""

import hashlib
import json
import threading
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from trainway.json_types import Json

COMMIT: Final = "0123456789abcdef0123456789abcdef01234567"
NAME: Final = "org/tiny"
TOKEN: Final = "hf_sesame"  # noqa: S105 - of a server of tests
LOOPBACK: Final = "127.0.0.1"
LARGE: Final = 1000
"""Files of so many bytes are kept apart, and have a sha-256."""


class PretendedHub:
    """What the server has, and what it was asked for."""

    def __init__(self, files: Mapping[str, bytes], *, is_private: bool = False) -> None:
        self.files = dict(files)
        self.is_private = is_private
        self.page = 2
        self.ranges: list[tuple[str, str]] = []
        self.tokens_elsewhere: list[str] = []
        self.before_bytes: Callable[[str], None] = lambda _path: None
        self.address = ""
        self.elsewhere = ""

    def entry(self, path: str) -> Json:
        """A file, as the API tells it."""
        content = self.files[path]
        git = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False)
        found: Json = {"type": "file", "path": path, "size": len(content), "oid": git.hexdigest()}
        if len(content) >= LARGE:
            digest = hashlib.sha256(content).hexdigest()
            found["lfs"] = {"oid": digest, "size": len(content), "pointerSize": 130}
        return found


@contextmanager
def served(hub: PretendedHub, host: str = LOOPBACK) -> Iterator[PretendedHub]:
    """Let it answer on a port of this machine."""
    handler = type("Handler", (_Handler,), {"hub": hub})
    server = ThreadingHTTPServer((host, 0), handler)
    port = server.server_address[1]
    hub.address = hub.elsewhere = f"http://{host}:{port}"
    if host == LOOPBACK:
        hub.elsewhere = f"http://localhost:{port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    hub: PretendedHub

    def do_GET(self) -> None:
        url = urllib.parse.urlsplit(self.path)
        path = urllib.parse.unquote(url.path)
        if path.startswith("/elsewhere/"):
            self.hub.tokens_elsewhere += self.headers.get_all("Authorization") or []
            self._bytes(path.removeprefix("/elsewhere/"))
        elif not self._may():
            self._say(401, {"error": "Invalid username or password."})
        elif path == f"/api/models/{NAME}/revision/main":
            self._say(200, {"sha": COMMIT})
        elif path.startswith(f"/api/models/{NAME}/tree/{COMMIT}"):
            folder = path.removeprefix(f"/api/models/{NAME}/tree/{COMMIT}").strip("/")
            self._tree(folder, dict(urllib.parse.parse_qsl(url.query)))
        elif path.startswith(f"/{NAME}/resolve/{COMMIT}/"):
            self._resolve(path.removeprefix(f"/{NAME}/resolve/{COMMIT}/"))
        else:
            self._say(404, {"error": "Repository not found"})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self._may():
            self._say(401, {"error": "Invalid username or password."})
        elif self.path == f"/api/models/{NAME}/paths-info/{COMMIT}":
            found = [path for path in asked["paths"] if path in self.hub.files]
            self._say(200, list(map(self.hub.entry, found)))
        else:
            self._say(404, {"error": "Repository not found"})

    def _may(self) -> bool:
        sent = self.headers.get("Authorization")
        return not self.hub.is_private or sent == f"Bearer {TOKEN}"

    def _tree(self, folder: str, query: Mapping[str, str]) -> None:
        prefix = f"{folder}/" if folder else ""
        found = sorted(path for path in self.hub.files if path.startswith(prefix))
        if not found:
            self._say(404, {"error": "EntryNotFound"})
            return
        start = int(query.get("cursor", 0))
        end = start + self.hub.page
        more = f"{self.hub.address}{urllib.parse.urlsplit(self.path).path}?recursive=true"
        link = {"Link": f'<{more}&cursor={end}>; rel="next"'} if end < len(found) else {}
        self._say(200, [self.hub.entry(path) for path in found[start:end]], link)

    def _resolve(self, path: str) -> None:
        if len(self.hub.files.get(path, b"")) < LARGE:
            self._bytes(path)
            return
        self.send_response(302)
        self.send_header("Location", f"{self.hub.elsewhere}/elsewhere/{urllib.parse.quote(path)}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _bytes(self, path: str) -> None:
        content, asked = self.hub.files[path], self.headers["Range"]
        first, _, last = asked.removeprefix("bytes=").partition("-")
        piece = content[int(first) : int(last) + 1]
        self.hub.before_bytes(path)
        self.hub.ranges.append((path, asked))
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{last}/{len(content)}")
        self.send_header("Content-Length", str(len(piece)))
        self.end_headers()
        self.wfile.write(piece)

    def _say(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(text))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its signature
        """Say nothing."""
