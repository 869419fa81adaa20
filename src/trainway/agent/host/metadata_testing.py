"""A metadata service for tests, which says what a test wants; written from the documentation."""

from __future__ import annotations

import contextlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKEN = "AQAEAJ=="  # noqa: S105 - nothing is behind it
ACTION = "/latest/meta-data/spot/instance-action"


class MetadataService:
    """That of AWS with IMDSv2: who has no token gets nothing."""

    def __init__(self) -> None:
        self.says: dict[str, str] = {}
        """The answer to each path; others are not found."""
        self.to = ""
        """The address of the only machine that is told something; empty: all are."""
        self.asked: list[str] = []
        self.host = "127.0.0.1"
        self.port = 0

    @property
    def address(self) -> str:
        """Where it answers."""
        return f"{self.host}:{self.port}"

    @contextlib.contextmanager
    def running(self, host: str = "127.0.0.1") -> Iterator[MetadataService]:
        """Answer for a while."""
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_PUT(self) -> None:
                has_age = self.headers.get("X-aws-ec2-metadata-token-ttl-seconds")
                service.answer(self, TOKEN if has_age else None)

            def do_GET(self) -> None:
                knows = self.headers.get("X-aws-ec2-metadata-token") == TOKEN
                is_meant = service.to in ("", self.client_address[0])
                service.answer(self, service.says.get(self.path) if knows and is_meant else None)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        with ThreadingHTTPServer((host, 0), Handler) as server:
            self.host, self.port = host, server.server_address[1]
            thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
            thread.start()
            yield self
            server.shutdown()
            thread.join()

    def answer(self, handler: BaseHTTPRequestHandler, body: str | None) -> None:
        """Say that, or that there is nothing."""
        self.asked.append(handler.path)
        handler.send_response(404 if body is None else 200)
        data = (body or "").encode()
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)
