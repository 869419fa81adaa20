from dataclasses import dataclass
from typing import Any

import pytest

from trainway.json_types import Json
from trainway.optimization.request import requested
from trainway.sdk.kubeflow import (
    CustomTrainer,
    Direction,
    GridSearch,
    Metric,
    Objective,
    RandomSearch,
    Search,
    TrialConfig,
)
from trainway.sdk.kubeflow.contract_testing import GROUP, published
from trainway.sdk.kubeflow.optimizer import adopted_spaces, expand, parameterized
from trainway.sdk.kubeflow.requests import train_job
from trainway.sdk.kubeflow.search_views import metrics_of, optimization_job, wanted_search
from trainway.sdk.kubeflow.types.optimizer import SearchSpace
from trainway.sdk.kubeflow.views import unknown_runtime

SPACES: dict[str, SearchSpace] = {"lr": Search.loguniform(1e-5, 0.1), "bs": Search.choice([8, 16])}


def train(lr: str, bs: str, size: int = 1) -> None:
    print(lr, bs, size)  # noqa: T201 - what a training does here


def test_a_search_is_one_that_the_server_takes() -> None:
    objective = Objective("accuracy", Direction.MAXIMIZE)
    search = wanted_search(SPACES, [objective], TrialConfig(5, 2), RandomSearch(7))
    study = requested("demo", search)
    assert (study.metric, study.maximize, study.trials, study.parallel) == ("accuracy", True, 5, 2)
    assert study.seed == "7"
    assert search["spec"]["parameters"] == [
        {"name": "lr", "searchSpace": {"logUniform": {"min": "1e-05", "max": "0.1"}}},
        {"name": "bs", "searchSpace": {"categorical": {"choices": ["8", "16"]}}},
    ]


@dataclass(frozen=True)
class Case:
    spaces: dict[str, Any]
    config: TrialConfig
    message: str


@pytest.mark.parametrize(
    "case",
    [
        Case({"lr": [1, 2]}, TrialConfig(), "lr: use Search.uniform"),
        Case({"lr": Search.choice(['a"b'])}, TrialConfig(), "must not have quotes"),
        Case(SPACES, TrialConfig(max_failed_trials=1), "max_failed_trials is not supported"),
    ],
    ids=lambda case: case.message,
)
def test_what_cannot_be_searched_is_refused(case: Case) -> None:
    with pytest.raises(ValueError, match=case.message):
        wanted_search(case.spaces, [Objective()], case.config, RandomSearch())


def test_a_run_becomes_an_optimization_job() -> None:
    search = wanted_search(SPACES, [Objective()], TrialConfig(5, 2), GridSearch())
    run: Json = {
        "metadata": {"name": "demo", "creationTimestamp": "2026-01-31T12:00:00Z"},
        "status": {"phase": "Succeeded", "search": {"type": "Complete"}},
        "search": {"spec": search["spec"], "trials": 5},
    }
    job = optimization_job(run, [])
    assert (job.name, job.status, job.search_space) == ("demo", "Complete", SPACES)
    assert (job.objectives, job.algorithm) == ([Objective()], GridSearch())
    assert job.trial_config == TrialConfig(5, 2)
    run["status"] = {"phase": "Cancelled", "search": {"type": "Cancelled"}}
    assert optimization_job(run, []).status == "Failed"
    run["status"] = {"phase": "Running", "search": None}
    assert optimization_job(run, []).status == "Created"


def test_metrics_are_texts() -> None:
    summary = {"loss": {"last": 0.5, "minimum": 0.25, "maximum": 2.0, "step": 3}}
    assert metrics_of({"summary": summary}) == [Metric("loss", "0.25", "2.0", "0.5")]


def job_of(trainer: CustomTrainer) -> Json:
    return train_job("demo", unknown_runtime("jax"), None, parameterized(trainer, SPACES), None)


def test_the_function_gets_the_variables_of_its_trial() -> None:
    job = job_of(CustomTrainer(train, {"size": 3}))
    expand(job, SPACES)
    arguments = job["spec"]["trainer"]["args"][-1]
    assert arguments == (
        '[[], {"size": 3, "lr": "$(KUBEFLOW_TRAINER_OPT_LR)", "bs": "$(KUBEFLOW_TRAINER_OPT_BS)"}]'
    )


def test_arguments_that_json_cannot_hold_are_refused() -> None:
    with pytest.raises(ValueError, match="plain data"):
        expand(job_of(CustomTrainer(train, {"size": {1, 2}})), SPACES)


@GROUP
def test_search_spaces_of_the_published_sdk_are_taken() -> None:
    theirs = published("optimizer").Search
    spaces = {"lr": theirs.loguniform(1e-5, 0.1), "bs": theirs.choice([8, 16])}
    assert adopted_spaces(spaces) == SPACES
