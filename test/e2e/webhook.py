"""A real server of HTTP that notifications are sent to."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Webhook(BaseHTTPRequestHandler):
    """Refuses the first notices, and keeps the others."""

    refusals: int
    refused: list[str]
    got: list[dict[str, object]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        is_refused = len(Webhook.refused) < Webhook.refusals
        if is_refused:
            Webhook.refused.append(body["event"])
        else:
            Webhook.got.append({"path": self.path, **body})
        self.send_response(503 if is_refused else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_args: object) -> None:
        """Be quiet."""


@contextmanager
def webhook(refusals: int = 0) -> Iterator[str]:
    """The URL of a webhook; what it got is in `Webhook`."""
    Webhook.refusals, Webhook.refused, Webhook.got = refusals, [], []
    with ThreadingHTTPServer(("127.0.0.1", 0), Webhook) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
