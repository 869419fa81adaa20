"""Searches between the types of the kubeflow SDK and the server's JSON. Pure."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from trainway.json_types import Json
from trainway.sdk.kubeflow import views
from trainway.sdk.kubeflow.types.optimizer import (
    CategoricalSearchSpace,
    ContinuousSearchSpace,
    Direction,
    Distribution,
    GridSearch,
    Metric,
    Objective,
    OptimizationJob,
    RandomSearch,
    SearchSpace,
    Trial,
    TrialConfig,
)

_DIRECTIONS: Final = {Direction.MAXIMIZE: "Maximize", Direction.MINIMIZE: "Minimize"}
_STATUS_OF_PHASE: Final = {"Succeeded": views.COMPLETE, "Failed": views.FAILED}


def wanted_search(
    spaces: Mapping[str, SearchSpace],
    objectives: Sequence[Objective],
    config: TrialConfig,
    algorithm: GridSearch | RandomSearch,
) -> Json:
    """The search as the server takes it."""
    if config.max_failed_trials is not None:
        raise ValueError(
            "max_failed_trials is not supported: a trial that fails counts as one of num_trials"
        )
    objective, is_grid = objectives[0], isinstance(algorithm, GridSearch)
    seed = getattr(algorithm, "random_state", None)
    chosen: Json = {"grid": {}} if is_grid else {"random": {} if seed is None else {"seed": seed}}
    return {
        "spec": {
            "objectives": [
                {"metric": objective.metric, "direction": _DIRECTIONS[objective.direction]}
            ],
            "parameters": [
                {"name": name, "searchSpace": _space(name, space)} for name, space in spaces.items()
            ],
            "searchAlgorithm": chosen,
            "numTrials": config.num_trials,
            "parallelTrials": config.parallel_trials,
        }
    }


def _space(name: str, space: SearchSpace) -> Json:
    if isinstance(space, CategoricalSearchSpace):
        choices = [str(value) for value in space.choices]
        for text in choices:
            if json.dumps(text, ensure_ascii=False) != f'"{text}"':
                raise ValueError(f"{name}: a choice must not have quotes or control characters")
        return {"categorical": {"choices": choices}}
    if not isinstance(space, ContinuousSearchSpace):
        raise ValueError(f"{name}: use Search.uniform, Search.loguniform or Search.choice")
    return {space.distribution.value: {"min": str(space.min), "max": str(space.max)}}


def optimization_job(run: Json, trials: list[Trial]) -> OptimizationJob:
    """A run that is a search."""
    spec, metadata = run["search"]["spec"], run["metadata"]
    chosen = spec.get("searchAlgorithm") or {}
    seed = (chosen.get("random") or {}).get("seed")
    status = _STATUS_OF_PHASE.get(run["status"]["phase"]) or _status(run, trials)
    return OptimizationJob(
        name=metadata["name"],
        search_space={item["name"]: _space_of(item["searchSpace"]) for item in spec["parameters"]},
        objectives=[
            Objective(item["metric"], Direction(item.get("direction", "Minimize").lower()))
            for item in spec["objectives"]
        ],
        algorithm=GridSearch() if "grid" in chosen else RandomSearch(seed),
        trial_config=TrialConfig(run["search"]["trials"], spec.get("parallelTrials") or 1),
        trials=trials,
        creation_timestamp=datetime.fromisoformat(metadata["creationTimestamp"]),
        status=status,
    )


def _status(run: Json, trials: Sequence[Trial]) -> str:
    if run["status"].get("search"):
        return views.FAILED  # somebody cancelled it
    is_running = any(trial.trainjob.status == views.RUNNING for trial in trials)
    return views.RUNNING if is_running else views.CREATED


def _space_of(space: Json) -> SearchSpace:
    if "categorical" in space:
        return CategoricalSearchSpace(list(space["categorical"]["choices"]))
    ((name, limits),) = space.items()
    return ContinuousSearchSpace(float(limits["min"]), float(limits["max"]), Distribution(name))


def metrics_of(history: Json) -> list[Metric]:
    """What a trial reported, in short."""
    return [
        Metric(name, str(found["minimum"]), str(found["maximum"]), str(found["last"]))
        for name, found in (history.get("summary") or {}).items()
    ]
