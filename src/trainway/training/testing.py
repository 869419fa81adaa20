"""For tests: an API server that answers as it is told, and remembers what it was asked."""

import http.server
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import yaml

from trainway.api.mpijob_wishes import MPIJobWishes, mpijob_of
from trainway.jobset.labels import COMPLETION_INDEX, MPI_JOB_NAME, MPI_JOB_ROLE
from trainway.json_types import Json

JOBS = "/apis/kubeflow.org/v2beta1/namespaces/team/mpijobs"
PODS = "/api/v1/namespaces/team/pods"
TIME = "2026-11-17T09:00:00Z"


@dataclass
class ApiServer:
    """Answers to (method, path); of several answers each is given once, and the last for good."""

    url: str = ""
    answers: dict[tuple[str, str], list[tuple[int, Any]]] = field(default_factory=dict)
    asked: list[tuple[str, str, Any]] = field(default_factory=list)
    """Method, path with query, and body of each request."""

    def on(self, method: str, path: str, *bodies: Any, status: int = 200) -> None:
        """Answer with these, one after the other: objects, or bytes."""
        self.answers[method, path] = [(status, body) for body in bodies]

    def refuse(self, method: str, path: str, status: int, reason: str, message: str) -> None:
        """Answer with an error."""
        body = {"kind": "Status", "code": status, "reason": reason, "message": message}
        self.on(method, path, body, status=status)

    def answer(self, method: str, path: str, body: Any) -> tuple[int, bytes]:
        """What to say to a request."""
        self.asked.append((method, unquote(path), body))
        parts = urlsplit(path)
        key = "WATCH" if "watch=true" in parts.query else method
        told = self.answers.get((key, parts.path))
        if told is None:
            missing = {"kind": "Status", "code": 404, "reason": "NotFound", "message": "404 page"}
            return 404, json.dumps(missing).encode()
        status, value = told.pop(0) if len(told) > 1 else told[0]
        return status, value if isinstance(value, bytes) else json.dumps(value).encode()

    def kubeconfig(self, folder: Path) -> Path:
        """A kubeconfig for it, with the namespace `team`."""
        named = {"name": "test"}
        config = {
            "current-context": "test",
            "clusters": [named | {"cluster": {"server": self.url}}],
            "contexts": [named | {"context": {"cluster": "test", "namespace": "team"}}],
        }
        path = folder / "kubeconfig"
        path.write_text(yaml.safe_dump(config))
        return path


class _Server(http.server.ThreadingHTTPServer):
    """Silent about clients that go away: its threads may outlive the test that started it."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report what is a fault of this server."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serving() -> Iterator[ApiServer]:
    """An API server on a free port."""
    told = ApiServer()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            status, text = told.answer(self.command, self.path, body)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PATCH = do_DELETE = _answer  # noqa: N815 - as http.server calls them

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its names
            """Be silent."""

    server = _Server(("127.0.0.1", 0), Handler)
    told.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def job(state: str = "", version: int = 1, **spec: Any) -> Json:
    """An MPIJob of two workers as a cluster has it, with a condition that holds."""
    made = mpijob_of(MPIJobWishes(name="train", image="team/train:v1", command="python train.py"))
    made["metadata"] |= {
        "namespace": "team",
        "uid": "uid-1",
        "resourceVersion": str(version),
        "creationTimestamp": TIME,
    }
    made["spec"]["runPolicy"] |= spec
    if state:
        condition = {"type": state, "status": "True", "reason": f"MPIJob{state}", "message": "so."}
        made["status"] = {"conditions": [condition | {"lastTransitionTime": TIME}]}
    return made


def pod(role: str, index: int = 0, state: Json | None = None, **status: Any) -> Json:
    """A pod of it, whose container is in a state."""
    labels = {
        MPI_JOB_NAME: "train",
        MPI_JOB_ROLE: role,
        COMPLETION_INDEX: str(index),
    }
    name = f"train-{role}-0-{index}-abcde"
    statuses = [{"name": role, "restartCount": 0, "state": state}] if state else []
    return {
        "metadata": {"name": name, "uid": f"uid-{name}", "labels": labels},
        "spec": {"containers": [{"name": role}], "nodeName": "node-1"},
        "status": {"phase": "Running", "containerStatuses": statuses, **status},
    }


def listing(*items: Json, version: str = "7") -> Json:
    """A list of them."""
    return {"metadata": {"resourceVersion": version}, "items": list(items)}


def events(*objects: Json) -> bytes:
    """What a watch says."""
    lines = (json.dumps({"type": "MODIFIED", "object": each}) for each in objects)
    return "".join(f"{line}\n" for line in lines).encode()
