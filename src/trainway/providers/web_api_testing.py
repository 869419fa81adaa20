"""Stand-ins of clouds that speak JSON over HTTP: a server in this process, for tests."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Call:
    """A request that has come."""

    method: str
    path: str
    body: Any = None
    authorization: str = ""
    query: Mapping[str, str] = field(default_factory=dict)


@dataclass
class StandIn:
    """A cloud; a subclass answers with a status and a value."""

    calls: list[Call] = field(default_factory=list)
    refusals: list[tuple[str, int, Any, bool]] = field(default_factory=list)
    """The beginning of a request, and what it is answered; last: whether it is done first."""

    def answer(self, call: Call) -> tuple[int, Any]:
        """What the cloud does."""
        raise NotImplementedError

    def refuse(self, begins: str, status: int, body: Any = None, *, after: bool = False) -> None:
        """Let the next request of a kind (`POST /instances`) go wrong."""
        self.refusals.append((begins, status, body, after))

    def respond(self, call: Call) -> tuple[int, Any]:
        """Answer, or refuse as a test has wanted."""
        self.calls.append(call)
        for each in self.refusals:
            begins, status, body, after = each
            if f"{call.method} {call.path}".startswith(begins):
                self.refusals.remove(each)
                if after:
                    self.answer(call)
                return status, body
        return self.answer(call)


@contextmanager
def served(cloud: StandIn) -> Iterator[str]:
    """The address of a stand-in while it is served."""

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            text = self.rfile.read(size)
            asked = urlsplit(self.path)
            query = dict(parse_qsl(asked.query))
            body = json.loads(text) if text else None
            who = self.headers.get("Authorization", "")
            call = Call(self.command, asked.path, body, who, query)
            status, answer = cloud.respond(call)
            content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            if status in (301, 302):
                self.send_header("Location", "http://127.0.0.1:9/")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_DELETE = do_PATCH = do_PUT = handle_any  # noqa: N815 - the names of http.server

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
