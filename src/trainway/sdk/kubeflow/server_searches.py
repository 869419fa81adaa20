"""Searches of the server: runs whose trials are jobs on any backend."""

from collections.abc import Iterator
from typing import Final

from trainway.errors import NotFoundError
from trainway.json_types import Json
from trainway.sdk.kubeflow import search_views, views
from trainway.sdk.kubeflow.client import TrainerClient
from trainway.sdk.kubeflow.types.optimizer import OptimizationJob, Result, Trial
from trainway.sdk.kubeflow.types.types import Event, Runtime
from trainway.sdk.manifests import failing_fast
from trainway.sdk.rest import Submission
from trainway.sdk.run_rest import RunRest
from trainway.sdk.submitter import job_options

_PAGE: Final = 100


class ServerSearches:
    """The runs of the server that are searches."""

    def __init__(self) -> None:
        self._trainer = TrainerClient()
        self._rest = RunRest.connect()

    def runtime(self, given: str | Runtime) -> Json:
        """A runtime that the server has."""
        return self._rest.runtime(given.name if isinstance(given, Runtime) else given)

    def submit(self, runtime: Json, job: Json, search: Json) -> str:
        """Begin a search whose trials are like that TrainJob; its name."""
        options = job_options(self._rest.address, prefer_our_python=True)
        submission = Submission([failing_fast(runtime), job], options)
        self._rest.submit_run(submission, {"search": search, "placeholders": False})
        return str(job["metadata"]["name"])

    def all(self) -> list[OptimizationJob]:
        """Every search, newest first."""
        found: list[OptimizationJob] = []
        cursor: str | None = None
        while True:
            runs, cursor = self._rest.runs(limit=_PAGE, cursor=cursor)
            ids = [run["metadata"]["id"] for run in runs if "search" in run["status"]]
            found += [self._job(self._rest.run(id_)) for id_ in ids]
            if not cursor:
                return found

    def get(self, name: str) -> OptimizationJob:
        """One search."""
        return self._job(self._run(name))

    def lines(self, name: str, trial: str | None, *, follow: bool) -> Iterator[str]:
        """The log of a trial: the best one, or else the first, unless it is named."""
        run = self._run(name)
        best = run["search"]["best"]
        first = next((job["metadata"]["name"] for job in run["jobs"]), None)
        chosen = trial or (best["name"] if best else first)
        if chosen is not None:
            yield from self._trainer.get_job_logs(chosen, follow=follow)

    def best(self, name: str) -> Result | None:
        """The best values so far."""
        run = self._run(name)
        best = run["search"]["best"]
        if not best:
            return None
        history = self._rest.metrics(_id_of(run, best["name"]), summary=True)
        return Result(dict(best["parameters"]), search_views.metrics_of(history))

    def delete(self, name: str) -> None:
        """Stop a search with its trials, and remove them."""
        self._rest.delete_run(self._run(name)["metadata"]["id"])

    def events(self, name: str) -> list[Event]:
        """What happened to the trials."""
        return [
            views.event_of(event, job["metadata"]["name"])
            for job in self._run(name)["jobs"]
            for event in self._rest.events(job["metadata"]["id"])
        ]

    def _run(self, name: str) -> Json:
        run = self._rest.run(name)
        if not run.get("search"):
            raise NotFoundError(f"the run {name} is not a search")
        return run

    def _job(self, run: Json) -> OptimizationJob:
        trials = [
            Trial(
                job["metadata"]["name"],
                dict(job["spec"].get("parameters") or {}),
                self._trainer.get_job(job["metadata"]["id"]),
                search_views.metrics_of(self._rest.metrics(job["metadata"]["id"], summary=True)),
            )
            for job in run["jobs"]
        ]
        return search_views.optimization_job(run, trials)


def _id_of(run: Json, name: str) -> str:
    return next(str(j["metadata"]["id"]) for j in run["jobs"] if j["metadata"]["name"] == name)
