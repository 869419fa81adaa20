"""OptimizerClient: the methods of the kubeflow SDK, on Trainway's searches.

Kubeflow's own needs Katib. Here a search is a run of the server, whose trials are jobs on any
backend. The function gets its parameters as texts, as it does there.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, cast

from trainway.errors import NotFoundError
from trainway.jobset.literal_text import literal
from trainway.json_types import Json
from trainway.optimization.names import variable
from trainway.sdk.kubeflow import search_views, views
from trainway.sdk.kubeflow.adoption import adopted
from trainway.sdk.kubeflow.client import TrainerClient, random_name, translated
from trainway.sdk.kubeflow.requests import train_job
from trainway.sdk.kubeflow.types.optimizer import (
    CategoricalSearchSpace,
    ContinuousSearchSpace,
    Distribution,
    GridSearch,
    Objective,
    OptimizationJob,
    RandomSearch,
    Result,
    SearchSpace,
    Trial,
    TrialConfig,
)
from trainway.sdk.kubeflow.types.types import (
    BackendConfig,
    CustomTrainer,
    Event,
    Runtime,
    TrainJobTemplate,
)
from trainway.sdk.manifests import TORCH_RUNTIME, failing_fast
from trainway.sdk.rest import Submission
from trainway.sdk.run_rest import RunRest
from trainway.sdk.submitter import job_options

_PAGE = 100


class OptimizerClient:
    """Searches for the best hyperparameters of a training function."""

    def __init__(self, backend_config: BackendConfig | None = None) -> None:
        self._trainer = TrainerClient(backend_config)
        self._rest = RunRest.connect()

    def optimize(
        self,
        trial_template: TrainJobTemplate,
        *,
        trial_config: TrialConfig | None = None,
        search_space: dict[str, Any],
        objectives: list[Objective] | None = None,
        algorithm: GridSearch | RandomSearch | None = None,
    ) -> str:
        """Submit a search and give its name; unless it is told, it minimizes `loss`."""
        if not search_space:
            raise ValueError("search_space must have at least one parameter")
        template, spaces = adopted(trial_template), adopted_spaces(search_space)
        search = search_views.wanted_search(
            spaces,
            adopted(objectives) or [Objective()],
            adopted(trial_config) or TrialConfig(),
            adopted(algorithm) or RandomSearch(),
        )
        given = template.runtime
        name = given.name if isinstance(given, Runtime) else given or TORCH_RUNTIME
        with translated(f"submit a search with the runtime {name}"):
            manifest = self._rest.runtime(name)
            known = given if isinstance(given, Runtime) else views.runtime_of(manifest)
            job = train_job(
                random_name(),
                known,
                manifest,
                parameterized(template.trainer, spaces),
                template.initializer,
            )
            expand(job, spaces)
            options = job_options(self._rest.address, prefer_our_python=True)
            submission = Submission([failing_fast(manifest), job], options)
            wanted = {"search": search, "placeholders": False}
            self._rest.submit_run(submission, wanted)
        return str(job["metadata"]["name"])

    def list_jobs(self) -> list[OptimizationJob]:
        """All searches, newest first."""
        found: list[OptimizationJob] = []
        cursor: str | None = None
        with translated("list searches"):
            while True:
                runs, cursor = self._rest.runs(limit=_PAGE, cursor=cursor)
                ids = [run["metadata"]["id"] for run in runs if "search" in run["status"]]
                found += [self._job(self._rest.run(id_)) for id_ in ids]
                if not cursor:
                    return found

    def get_job(self, name: str) -> OptimizationJob:
        """The search of that name."""
        with translated(f"get the search {name}"):
            return self._job(self._run(name))

    def get_job_logs(
        self, name: str, trial_name: str | None = None, follow: bool = False
    ) -> Iterator[str]:
        """The lines of a trial: the best one, or else the first, unless it is named."""
        with translated(f"read the logs of the search {name}"):
            run = self._run(name)
        best = run["search"]["best"]
        first = next((job["metadata"]["name"] for job in run["jobs"]), None)
        chosen = trial_name or (best["name"] if best else first)
        if chosen is not None:
            yield from self._trainer.get_job_logs(chosen, follow=follow)

    def get_best_results(self, name: str) -> Result | None:
        """The best values so far; None if no trial has succeeded yet."""
        with translated(f"get the results of the search {name}"):
            run = self._run(name)
            best = run["search"]["best"]
            if not best:
                return None
            reported = search_views.metrics_of(
                self._rest.metrics(_id_of(run, best["name"]), summary=True)
            )
        return Result(dict(best["parameters"]), reported)

    def wait_for_job_status(
        self,
        name: str,
        status: set[str] | frozenset[str] = frozenset({views.COMPLETE}),
        timeout: int = 3600,
        polling_interval: int = 2,
        callbacks: list[Callable[[OptimizationJob], None]] | None = None,
    ) -> OptimizationJob:
        """Wait until the search has one of these statuses; callbacks see it each time."""
        if not status <= views.STATUSES:
            raise ValueError(f"status must be among {sorted(views.STATUSES)}, not {sorted(status)}")
        if not 0 < polling_interval < timeout:
            raise ValueError("polling_interval must be more than 0 and less than timeout")
        end = time.monotonic() + timeout
        while True:
            job = self.get_job(name)
            for callback in callbacks or ():
                callback(job)
            if job.status in status:
                return job
            if job.status == views.FAILED:
                raise RuntimeError(f"OptimizationJob {name} is Failed")
            if time.monotonic() + polling_interval > end:
                wanted = " or ".join(sorted(status))
                raise TimeoutError(f"OptimizationJob {name} is not {wanted} in {timeout} s")
            time.sleep(polling_interval)

    def delete_job(self, name: str) -> None:
        """Stop the search with its trials, and remove them."""
        with translated(f"delete the search {name}"):
            self._rest.delete_run(self._run(name)["metadata"]["id"])

    def get_job_events(self, name: str) -> list[Event]:
        """What happened to the trials, oldest first."""
        with translated(f"get the events of the search {name}"):
            events = [
                views.event_of(event, job["metadata"]["name"])
                for job in self._run(name)["jobs"]
                for event in self._rest.events(job["metadata"]["id"])
            ]
        return sorted(events, key=lambda event: event.event_time)

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


def adopted_spaces(spaces: dict[str, Any]) -> dict[str, SearchSpace]:
    """Search spaces as ours; the published SDK's are parameters of Katib."""
    return {name: _adopted_space(space) for name, space in spaces.items()}


def _adopted_space(space: Any) -> SearchSpace:
    feasible = getattr(space, "feasible_space", None)
    if feasible is None:
        return cast("SearchSpace", space)
    if feasible.list:
        return CategoricalSearchSpace(list(feasible.list))
    limits = float(feasible.min), float(feasible.max)
    return ContinuousSearchSpace(*limits, Distribution(feasible.distribution))


def parameterized(trainer: Any, names: Iterable[str]) -> CustomTrainer:
    """The trainer, whose function is called with a mark for each parameter."""
    if not isinstance(trainer, CustomTrainer):
        raise ValueError("the trainer of a search must be a CustomTrainer")
    marks = {name: _mark(name) for name in names}
    return replace(trainer, func_args={**(trainer.func_args or {}), **marks})


def expand(job: Json, names: Iterable[str]) -> None:
    """Let the variables of a trial stand where the marks are."""
    trainer = job["spec"]["trainer"]
    for name in names:
        mark = literal(_mark(name))
        if not any(mark in part for part in trainer["args"]):
            raise ValueError("func_args of a search must be plain data that JSON can hold")
        trainer["args"] = [part.replace(mark, f"$({variable(name)})") for part in trainer["args"]]


def _mark(name: str) -> str:
    return f"trainway-parameter:{name}:"
