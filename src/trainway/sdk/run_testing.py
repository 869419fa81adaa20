"""The runs of the server in memory that tests of the client side have."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from trainway.jobset.labels import RUN
from trainway.json_types import Json


class FakeRuns:
    """Runs are what their jobs say; the newest comes first."""

    def __init__(self, jobs: dict[str, Json], add_job: Callable[[str], Json]) -> None:
        self._jobs = jobs
        self._add_job = add_job

    def submit(self, name: str, options: Mapping[str, Any]) -> list[Json]:
        """The jobs of a run; a pipeline has two."""
        count = 2 if options.get("pipeline") else options.get("num_jobs") or 0
        trials = options.get("parameters") or [{}] * count
        made = [self._add_job(f"{name}-{rank}") for rank in range(len(trials))]
        for job, trial in zip(made, trials, strict=True):
            job["spec"] |= {"run": made[0]["metadata"]["id"]} | (
                {"parameters": trial} if trial else {}
            )
            job["metadata"]["labels"] = {RUN: name}
        return made

    def answer(self, command: str, rest: list[str], query: Mapping[str, str]) -> tuple[int, Any]:
        """The status and the body for a request below /runs."""
        runs = self._runs()
        if not rest:
            return 200, {"items": [{**run, "jobs": []} for run in runs], "cursor": None}
        found = [run for run in runs if rest[0] in (run["metadata"]["id"], run["metadata"]["name"])]
        if not found:
            error = {"code": "not_found", "message": f"there is no run {rest[0]!r}", "field": None}
            return 404, {"error": error | {"hint": "trainway runs list shows them all"}}
        run = found[0]
        match command, rest[1:]:
            case "POST", ["cancel"]:
                for job in run["jobs"]:
                    if job["status"]["phase"] not in ("Succeeded", "Failed"):
                        job["status"] = {**job["status"], "phase": "Cancelled"}
            case "POST", ["rerun"]:
                wanted = [phase for phase in ("Failed", "Cancelled") if phase.lower() in query]
                jobs = [job for job in run["jobs"] if job["status"]["phase"] in wanted]
                again = [self._replaced(job) for job in jobs]
                return 201, {"run": self._runs()[runs.index(run)], "jobs": again, "warnings": []}
            case "DELETE", []:
                gone = [self._jobs.pop(job["metadata"]["id"]) for job in run["jobs"]]
                return 200, {"jobs": gone}
        return 200, self._runs()[runs.index(run)]

    def _replaced(self, job: Json) -> Json:
        """The job that takes the place of another one, which belongs to no run any more."""
        new = self._add_job(job["metadata"]["name"])
        new["spec"], new["metadata"]["labels"] = job["spec"], job["metadata"]["labels"]
        job["spec"] = {**job["spec"]}
        del job["spec"]["run"]
        return new

    def _runs(self) -> list[Json]:
        members: dict[str, list[Json]] = {}
        for job in self._jobs.values():
            if "run" in job["spec"]:
                members.setdefault(job["spec"]["run"], []).append(job)
        return [_run(id_, jobs) for id_, jobs in reversed(members.items())]


def _run(id_: str, jobs: list[Json]) -> Json:
    phases = Counter(job["status"]["phase"] for job in jobs)
    first = jobs[0]["metadata"]
    return {
        "apiVersion": "trainway.dev/v1",
        "kind": "Run",
        "metadata": {
            "id": id_,
            "name": first["labels"][RUN],
            "creationTimestamp": first["creationTimestamp"],
        },
        "spec": {"backend": "local", "jobs": len(jobs), "parallel": None},
        "status": {"phase": min(phases), "phases": dict(phases)},
        "jobs": jobs,
    }
