"""OptimizerClient: the methods of the kubeflow SDK, on Trainway's searches.

Kubeflow's own needs Katib. Here a search is a run of the server, whose trials are jobs on any
backend, or an OptimizationJob of a cluster, which Trainway's operator runs. The function gets its
parameters as texts, as it does there.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, Protocol, cast

from trainway.jobset.literal_text import literal
from trainway.json_types import Json
from trainway.optimization.names import variable
from trainway.sdk.kubeflow import search_views, views
from trainway.sdk.kubeflow.adoption import adopted
from trainway.sdk.kubeflow.client import random_name, translated
from trainway.sdk.kubeflow.requests import train_job
from trainway.sdk.kubeflow.server_searches import ServerSearches
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
    TrialConfig,
)
from trainway.sdk.kubeflow.types.types import (
    BackendConfig,
    CustomTrainer,
    Event,
    KubernetesBackendConfig,
    Runtime,
    TrainJobTemplate,
)
from trainway.sdk.manifests import TORCH_RUNTIME


class SearchPlace(Protocol):
    """Where searches are: the server, or a cluster."""

    def runtime(self, given: str | Runtime) -> Json:
        """A runtime, as it is there."""
        ...

    def submit(self, runtime: Json, job: Json, search: Json) -> str:
        """Begin a search whose trials are like that TrainJob; its name."""
        ...

    def all(self) -> list[OptimizationJob]:
        """Every search, newest first."""
        ...

    def get(self, name: str) -> OptimizationJob:
        """One search."""
        ...

    def lines(self, name: str, trial: str | None, *, follow: bool) -> Iterator[str]:
        """The log of a trial: the best one, or else the first, unless it is named."""
        ...

    def best(self, name: str) -> Result | None:
        """The best values so far."""
        ...

    def delete(self, name: str) -> None:
        """Stop a search with its trials, and remove them."""
        ...

    def events(self, name: str) -> list[Event]:
        """What happened to the trials."""
        ...


def place_of(config: BackendConfig | None) -> SearchPlace:
    """A cluster if the configuration is of Kubernetes, else the server."""
    config = adopted(config)
    if not isinstance(config, KubernetesBackendConfig):
        return ServerSearches()
    from trainway.sdk.kubeflow.cluster_api import connected  # noqa: PLC0415 - only for clusters
    from trainway.sdk.kubeflow.cluster_searches import ClusterSearches  # noqa: PLC0415 - as above

    with translated("use the cluster"):
        return ClusterSearches(connected(config))


class OptimizerClient:
    """Searches for the best hyperparameters of a training function."""

    def __init__(self, backend_config: BackendConfig | None = None) -> None:
        self._place = place_of(backend_config)

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
        given = template.runtime or TORCH_RUNTIME
        name = given.name if isinstance(given, Runtime) else given
        with translated(f"submit a search with the runtime {name}"):
            manifest = self._place.runtime(given)
            known = given if isinstance(given, Runtime) else views.runtime_of(manifest)
            trainer = parameterized(template.trainer, spaces)
            job = train_job(
                random_name(), known, manifest, trainer, template.initializer, installs=True
            )
            expand(job, spaces)
            return self._place.submit(manifest, job, search)

    def list_jobs(self) -> list[OptimizationJob]:
        """All searches, newest first."""
        with translated("list searches"):
            return self._place.all()

    def get_job(self, name: str) -> OptimizationJob:
        """The search of that name."""
        with translated(f"get the search {name}"):
            return self._place.get(name)

    def get_job_logs(
        self, name: str, trial_name: str | None = None, follow: bool = False
    ) -> Iterator[str]:
        """The lines of a trial: the best one, or else the first, unless it is named."""
        with translated(f"read the logs of the search {name}"):
            yield from self._place.lines(name, trial_name, follow=follow)

    def get_best_results(self, name: str) -> Result | None:
        """The best values so far; None if no trial has succeeded yet."""
        with translated(f"get the results of the search {name}"):
            return self._place.best(name)

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
            self._place.delete(name)

    def get_job_events(self, name: str) -> list[Event]:
        """What happened to the trials, oldest first."""
        with translated(f"get the events of the search {name}"):
            return sorted(self._place.events(name), key=lambda event: event.event_time)


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
