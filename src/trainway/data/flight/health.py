"""Whether a head or worker can be read, over HTTP: `/ready` gives 200, or 503 and the reason.

`/status` of a head gives figures. Nobody needs a token for them, so they do not say what is read.
"""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Missing = Callable[[], str]
"""Why it is not ready; nothing if it is."""
Figures = Callable[[], dict[str, Any] | None]
"""How many files, rows and readers there are; nothing of a worker."""


class Health:
    """Answers probes until it is closed."""

    def __init__(self, address: tuple[str, int], missing: Missing, figures: Figures) -> None:
        self._server = ThreadingHTTPServer(address, _handler(missing, figures))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    def close(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()


def answer(
    path: str, missing: Missing, figures: Figures = lambda: None
) -> tuple[int, dict[str, Any]]:
    """What a probe is told."""
    if path == "/healthz":
        return 200, {"alive": True}
    if path == "/status" and (told := figures()) is not None:
        return 200, told
    if path != "/ready":
        return 404, {"error": "there are /ready and /healthz, and /status of a head"}
    reason = missing()
    return (503, {"ready": False, "reason": reason}) if reason else (200, {"ready": True})


def _handler(missing: Missing, figures: Figures) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:
            status, value = answer(self.path.partition("?")[0], missing, figures)
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Probes are not worth a line each."""

    return Handler
