"""The clusters of a server in memory, for tests of the client side."""

from typing import Any

from trainway.jobset.labels import CLUSTER_JOB
from trainway.json_types import Json


class FakeClusters:
    """The REST contract of clusters; jobs are those of the server."""

    def __init__(self, jobs: dict[str, Json]) -> None:
        self._jobs = jobs
        self.items: dict[str, Json] = {}
        self.place: Json = {}
        """What `access` answers."""
        self.refusals: dict[str, str] = {}
        """Why a verb cannot be done."""

    def add(self, name: str, phase: str = "UP", infra: str = "local", **spec: Any) -> Json:
        """A new cluster."""
        resources = {"cpus": "2", "memory": "4Gi", "gpus": 0, "accelerators": ""}
        node = {"host": "this", "address": "127.0.0.1", "gpus": []}
        self.items[name] = {
            "apiVersion": "trainway.dev/v1alpha1",
            "kind": "Cluster",
            "metadata": {
                "id": f"c-{name}",
                "name": name,
                "creationTimestamp": "2026-11-15T05:10:00.000000Z",
            },
            "spec": {"infra": infra, "nodes": 1, "resources": resources, "autostop": None, **spec},
            "status": {"phase": phase, "message": "", "nodes": [node] if phase == "UP" else []},
        }
        return self.items[name]

    def number(self, job: Json) -> None:
        """Label a job of a cluster with its number."""
        backend = job["spec"]["backend"]
        if backend.startswith("cluster/"):
            count = len(
                [item for item in self._jobs.values() if item["spec"]["backend"] == backend]
            )
            job["metadata"]["labels"] = {CLUSTER_JOB: str(count)}

    def answer(self, command: str, parts: list[str], body: Any) -> tuple[int, Json]:
        """Status and body for a request below /clusters."""
        match command, parts:
            case "POST", []:
                return self._launched(body)
            case ("GET", []) | ("POST", ["refresh"]):
                return 200, {"items": list(self.items.values())}
            case _, [name, *_] if name not in self.items:
                return _error(404, "not_found", f"there is no cluster {name!r}")
            case "GET", [name]:
                return 200, self.items[name]
            case "GET", [name, "jobs"]:
                return 200, {"items": self._queue(name)}
            case "GET", [_, "access"]:
                return 200, self.place
            case "POST", [name, verb]:
                return self._changed(name, verb, body)
        return 200, self.items.pop(parts[0])

    def _launched(self, body: Json) -> tuple[int, Json]:
        name = body["name"] or "cluster-bcdfg"
        if name in self.items:
            return 200, self.items[name]
        autostop = None
        if body["idle_minutes"] is not None or body["down"]:
            autostop = {"idleMinutes": body["idle_minutes"] or 0, "down": body["down"]}
        made = self.add(
            name, infra=body["infra"] or "local", nodes=body["nodes"], autostop=autostop
        )
        if body.get("dry_run"):
            del self.items[name]
        return 200, made

    def _changed(self, name: str, verb: str, body: Json) -> tuple[int, Json]:
        if verb in self.refusals:
            return _error(409, "conflict", self.refusals[verb])
        cluster = self.items[name]
        if verb == "autostop":
            minutes, down = body["idle_minutes"], body["down"]
            told = None if minutes is None else {"idleMinutes": minutes, "down": down}
            cluster["spec"]["autostop"] = told
        else:
            cluster["status"]["phase"] = {"stop": "STOPPED", "start": "UP"}[verb]
        return 200, cluster

    def _queue(self, name: str) -> list[Json]:
        jobs = [job for job in self._jobs.values() if job["spec"]["backend"] == f"cluster/{name}"]
        return [
            {
                "number": int(job["metadata"]["labels"][CLUSTER_JOB]),
                "resources": "1x[CPU:0.5]",
                "logs": f"/jobs/{job['metadata']['id']}/logs",
                "job": job,
            }
            for job in jobs[::-1]
        ]


def _error(status: int, code: str, message: str) -> tuple[int, Json]:
    return status, {"error": {"code": code, "message": message, "field": None, "hint": None}}
