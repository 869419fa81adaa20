"""A server in memory for tests of the client side: the REST contract, and jobs that do as told."""

import json
import socketserver
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

from trainway import __version__
from trainway.json_types import Json
from trainway.sdk.cluster_testing import FakeClusters
from trainway.sdk.metric_testing import history
from trainway.sdk.placement_testing import FakePlaces
from trainway.sdk.run_testing import FakeRuns

TERMINAL = ("Succeeded", "Failed", "Cancelled")


class FakeServer:
    """Listens on the socket of a home directory, as the embedded server does."""

    def __init__(self, home: Path, version: str = __version__) -> None:
        self.home = home
        self.jobs: dict[str, Json] = {}
        self.clusters = FakeClusters(self.jobs)
        self.runs = FakeRuns(self.jobs, self.add_job)
        self.logs: dict[str, list[Json]] = {}
        self.events: dict[str, list[Json]] = {}
        self.metrics: dict[str, Json] = {}
        """Points by series, by the id of the job."""
        self.results: dict[str, Json] = {}
        """What functions returned, by the id of the job."""
        self.remains: dict[str, str] = {}
        """What is left of a job that is deleted by force."""
        self.places = FakePlaces()
        self.requests: list[tuple[str, str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.on_submit: Callable[[Json], None] = lambda _job: None
        self.warnings: list[str] = []
        self.refusal: tuple[int, Json] | None = None
        """Status and body to answer the next submission with."""
        self.lost_answers = 0
        """How many of the next submissions are taken, but not answered."""
        self._keys: dict[str, Json] = {}
        self.runtimes: list[Json] = []
        self.backends: list[Json] = []
        self.usage: Json = {}
        self.pods: dict[tuple[str | None, str | None], Json] = {}
        """Where a pod is, by role and rank as they were asked for."""
        self.break_after = 0
        """Break each stream after so many events, once; 0: never."""
        self.stopped = threading.Event()
        self._changed = threading.Condition()
        home.mkdir(parents=True, exist_ok=True)
        self.socket = home / "server.sock"
        self.socket.unlink(missing_ok=True)
        self._server = _UnixServer(str(self.socket), _handler(self))
        (home / "server.json").write_text(
            json.dumps({"pid": 0, "socket": str(self.socket), "version": version})
        )
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening."""
        with self._changed:
            self.stopped.set()
            self._changed.notify_all()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self.socket.unlink(missing_ok=True)

    def add_job(self, name: str, phase: str = "Pending", **status: Any) -> Json:
        """A new job."""
        id_ = f"id{len(self.jobs):04}"
        job = {
            "apiVersion": "trainway.dev/v1",
            "kind": "Job",
            "metadata": {
                "id": id_,
                "name": name,
                "namespace": "default",
                "creationTimestamp": "2026-11-15T05:10:00.000000Z",
                "labels": {},
            },
            "spec": {"kind": "JobSet", "backend": "local", "priority": 0, "objects": []},
            "status": {"phase": phase, "nodes": [], "jobSet": {}, "outputDir": "", **status},
        }
        self.jobs[id_] = job
        self.logs[id_] = []
        self.events[id_] = []
        return job

    def job_of(self, key: str | None, name: str) -> Json:
        """A new job, or the one that was made with that key."""
        job = self._keys.get(key or "") or self.add_job(name)
        if key:
            self._keys[key] = job
        return job

    def update(self, job: Json, phase: str | None = None, **status: Any) -> None:
        """Change a job and tell those who watch it."""
        with self._changed:
            job["status"] = {**job["status"], **({"phase": phase} if phase else {}), **status}
            self._changed.notify_all()

    def deleted(self, job: Json, *, by_force: bool) -> Json:
        """Forget a job; what the server answers."""
        id_ = job["metadata"]["id"]
        del self.jobs[id_]
        if not by_force or id_ not in self.remains:
            return job
        status = {"reason": "Abandoned", "message": self.remains[id_]}
        return {**job, "status": {**job["status"], **status}}

    def log(self, job: Json, text: str, role: str = "node", rank: int = 0, **more: Any) -> None:
        """Let a container write a line."""
        line = {"time": "2026-11-15T05:10:01.000000Z", "job": 0, "container": role, "attempt": 0}
        line |= {"stream": "stdout", "role": role, "rank": rank, "text": text, **more}
        with self._changed:
            self.logs[job["metadata"]["id"]].append(line)
            self._changed.notify_all()

    def event(self, job: Json, reason: str, message: str = "") -> None:
        """Let something happen to a job."""
        events = self.events[job["metadata"]["id"]]
        with self._changed:
            time = f"2026-11-15T05:10:{len(events):02}.000000Z"
            events.append({"seq": len(events) + 1, "time": time, "type": "Normal"})
            events[-1] |= {"reason": reason, "message": message, "object": ""}
            self._changed.notify_all()

    def find(self, ref: str) -> Json | None:
        """The job of that id, or the newest of that name."""
        named = [job for job in self.jobs.values() if job["metadata"]["name"] == ref]
        return self.jobs.get(ref) or (named[-1] if named else None)

    def wait_until(self, condition: Callable[[], bool]) -> bool:
        """Wait for a change that makes it true; False when the server is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self.stopped.is_set() or condition(), timeout=60)
        return not self.stopped.is_set()


class _UnixServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A client that goes away is no error."""


def _handler(fake: FakeServer) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        server_state = fake

    return Handler


class _Handler(BaseHTTPRequestHandler):
    server_state: FakeServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._serve(None)

    def do_DELETE(self) -> None:
        self._serve(None)

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        self._serve(json.loads(self.rfile.read(length)) if length else None)

    def _serve(self, body: Any) -> None:
        fake = self.server_state
        url = urlsplit(self.path)
        parts = [unquote(part) for part in url.path.removeprefix("/api/v1/").split("/")]
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        fake.requests.append((self.command, self.path, body))
        fake.headers.append(dict(self.headers))
        match self.command, parts:
            case "POST", ["jobs"]:
                self._submit(body)
            case "GET", ["jobs"]:
                self._list(query)
            case "GET", ["server"]:
                jobs = {"active": _active(fake), "total": len(fake.jobs)}
                info = {"pid": 1, "socket": str(fake.socket), "version": __version__}
                self._answer(200, {**info, "jobs": jobs})
            case "GET", [("usage" | "runtimes") as name]:
                known = {"usage": fake.usage, "runtimes": {"items": fake.runtimes}}
                self._answer(200, known[name])
            case "GET", ["runtimes", name]:
                found = [item for item in fake.runtimes if item["metadata"]["name"] == name]
                self._answer(200, found[0]) if found else self._missing("runtime", name)
            case "POST", [("places" | "placements" | "backends") as name, *_]:
                told = fake.places.answer(name, body) if name != "backends" else None
                self._answer(200, told or {"items": fake.backends})
            case "POST", ["server", "token"]:
                self._answer(200, {"token": "another"})
            case "POST", ["server", "stop"]:
                self._answer(200, {})
                threading.Thread(target=fake.close).start()
            case _, ["clusters", *rest]:
                self._answer(*fake.clusters.answer(self.command, rest, body))
            case _, ["runs", *rest]:
                self._answer(*fake.runs.answer(self.command, rest, query))
            case _, ["jobs", ref, *rest]:
                job = fake.find(ref)
                self._job(job, rest, query) if job else self._missing("job", ref)
            case _:
                self._missing("path", self.path)

    def _submit(self, body: Json) -> None:
        fake = self.server_state
        if fake.refusal:
            self._answer(*fake.refusal)
            return
        objects, options = body["objects"], body["options"]
        family, _, cluster = options.get("backend", "local").partition("/")
        if family == "cluster" and cluster not in fake.clusters.items:
            self._missing("cluster", cluster)
            return
        kinds = ("TrainJob", "MPIJob", "JobSet", "Task")
        (made,) = [item for item in objects if item["kind"] in kinds]
        jobs = fake.runs.submit(made["metadata"]["name"], options)
        if jobs:
            self._answer(201, {"job": jobs[0], "jobs": jobs, "warnings": fake.warnings})
            for each in jobs:
                fake.on_submit(each)
            return
        job = fake.job_of(self.headers.get("Idempotency-Key"), made["metadata"]["name"])
        job["spec"] |= {"kind": made["kind"], "objects": objects}
        job["spec"]["backend"] = options.get("backend", "local")
        fake.clusters.number(job)
        if fake.lost_answers:
            fake.lost_answers -= 1
            self.close_connection = True
            return
        self._answer(201, {"job": job, "warnings": fake.warnings})
        threading.Thread(target=fake.on_submit, args=(job,)).start()

    def _list(self, query: dict[str, str]) -> None:
        jobs = list(self.server_state.jobs.values())[::-1]
        if "name" in query:
            jobs = [job for job in jobs if job["metadata"]["name"] == query["name"]]
        if "phase" in query:
            jobs = [job for job in jobs if job["status"]["phase"] == query["phase"]]
        if "active" in query:
            ended = query["active"] == "false"
            jobs = [job for job in jobs if (job["status"]["phase"] in TERMINAL) == ended]
        start, limit = int(query.get("cursor", 0)), int(query.get("limit", 100))
        more = len(jobs) > start + limit
        items = jobs[start : start + limit]
        self._answer(200, {"items": items, "cursor": str(start + limit) if more else None})

    def _job(self, job: Json, rest: list[str], query: dict[str, str]) -> None:
        fake = self.server_state
        id_ = job["metadata"]["id"]
        match self.command, rest:
            case "GET", []:
                self._answer(200, job)
            case "DELETE", []:
                self._answer(200, fake.deleted(job, by_force=query.get("force") == "true"))
            case "GET", ["size"]:
                self._answer(200, {"bytes": 2048})
            case "GET", ["result"]:
                value = fake.results.get(id_)
                self._answer(200, value) if value else self._missing("value", id_)
            case "GET", ["pod"]:
                place = fake.pods.get((query.get("role"), query.get("rank")))
                self._answer(200, place) if place else self._missing("pod", self.path)
            case "GET", [("watch" | "logs" | "events" | "metrics") as what]:
                self._told(job, what, query)
            case "POST", ["rerun"]:
                self._answer(200, fake.add_job(job["metadata"]["name"]))
            case "POST", ["cancel"]:
                fake.update(job, "Cancelled", reason="Cancelled")
                self._answer(200, job)
            case "POST", [("suspend" | "resume" | "scale") as verb]:
                fake.update(job, {"suspend": "Paused", "resume": "Running"}.get(verb, "Queued"))
                self._answer(200, job)
            case _:
                self._missing("path", self.path)

    def _told(self, job: Json, what: str, query: dict[str, str]) -> None:
        fake, id_ = self.server_state, job["metadata"]["id"]
        match what:
            case "watch":
                self._stream(self._watch(job))
            case "logs":
                self._stream(self._logs(job, query))
            case "metrics":
                self._metrics(fake.metrics.get(id_, {}))
            case _ if "text/event-stream" in self.headers["Accept"]:
                self._stream(self._events(job))
            case _:
                self._answer(200, {"items": fake.events[id_]})

    def _metrics(self, series: Json) -> None:
        if "text/event-stream" in self.headers["Accept"]:
            self._stream(iter([("1", "points", {"series": series}), ("", "end", {})]))
        else:
            self._answer(200, history(series))

    def _watch(self, job: Json) -> Iterator[tuple[str, str, Any]]:
        seen: Any = None
        while True:
            if not self._differs(job, seen):
                return
            seen = job["status"]
            yield "", "job", {**job, "status": seen}
            if seen["phase"] in TERMINAL:
                return

    def _logs(self, job: Json, query: dict[str, str]) -> Iterator[tuple[str, str, Any]]:
        lines = self.server_state.logs[job["metadata"]["id"]]
        at = int(self.headers.get("Last-Event-ID") or 0)
        if "tail" in query:
            at = max(at, len(lines) - int(query["tail"]))
        while True:
            while at < len(lines):
                line, at = lines[at], at + 1
                wanted = (query.get("role", line["role"]), query.get("rank", str(line["rank"])))
                if wanted == (line["role"], str(line["rank"])):
                    yield str(at), "log", line
            over = query.get("follow") != "true" or job["status"]["phase"] in TERMINAL
            if over and at == len(lines):
                yield str(at), "end", {}
                return
            if not self._more(job, lines, at):
                return

    def _events(self, job: Json) -> Iterator[tuple[str, str, Any]]:
        events = self.server_state.events[job["metadata"]["id"]]
        at = int(self.headers.get("Last-Event-ID") or 0)
        while True:
            while at < len(events):
                at += 1
                yield str(at), "event", events[at - 1]
            if job["status"]["phase"] in TERMINAL:
                return
            if not self._more(job, events, at):
                return

    def _differs(self, job: Json, seen: Any) -> bool:
        return self.server_state.wait_until(lambda: job["status"] is not seen)

    def _more(self, job: Json, items: list[Json], at: int) -> bool:
        return self.server_state.wait_until(
            lambda: at < len(items) or job["status"]["phase"] in TERMINAL
        )

    def _stream(self, events: Iterator[tuple[str, str, Any]]) -> None:
        fake = self.server_state
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        left = fake.break_after
        for id_, kind, data in events:
            head = f"id: {id_}\n" if id_ else ""
            self._chunk(f"{head}event: {kind}\ndata: {json.dumps(data)}\n\n".encode())
            left -= 1
            if left == 0:
                fake.break_after = 0
                self.close_connection = True
                return
        self._chunk(b"")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _answer(self, status: int, body: Any) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _missing(self, what: str, name: str) -> None:
        error = {"code": "not_found", "message": f'no {what} "{name}"', "field": None}
        self._answer(404, {"error": {**error, "hint": "trainway jobs list shows all"}})


def _active(fake: FakeServer) -> int:
    return sum(job["status"]["phase"] not in TERMINAL for job in fake.jobs.values())
