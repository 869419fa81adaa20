"""OptimizationJobs as they are written: what is refused, and the search and trials they become."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from trainway.api.examples_test import OPTIMIZATION_JOB, changed, errors_of
from trainway.api.kinds import read
from trainway.api.optimizationjob import OptimizationJob
from trainway.optimization.names import index_of
from trainway.optimization.options import search_of
from trainway.optimization.space import Choices, FloatRange, IntRange
from trainway.optimization.study import Algorithm, Pruning
from trainway.optimization.suggestion import Suggestion
from trainway.optimization.trainjob import trial_of
from trainway.optimization.validation import validate_optimizationjob
from trainway.schema.field import ABSENT

SPACE = "spec.parameters[0].searchSpace"
ANNOTATIONS = "metadata.annotations"


def job(path: str = "", value: Any = None) -> OptimizationJob:
    model = read(changed(OPTIMIZATION_JOB, path, value) if path else OPTIMIZATION_JOB)
    assert isinstance(model, OptimizationJob)
    return model


@dataclass(frozen=True)
class Case:
    path: str
    value: Any
    error: str


@pytest.mark.parametrize(
    "case",
    [
        Case(
            ANNOTATIONS,
            {"trainway.dev/algorithm": "cma-es"},
            'metadata.annotations[trainway.dev/algorithm]: Unsupported value: "cma-es": supported'
            ' values: "tpe"',
        ),
        Case(
            ANNOTATIONS,
            {"trainway.dev/pruning": "yes"},
            'metadata.annotations[trainway.dev/pruning]: Unsupported value: "yes": supported'
            ' values: "median", "successive-halving"',
        ),
        Case(
            "metadata.name",
            "a" * 62,
            f'metadata.name: Invalid value: "{"a" * 62}": the last trial would be called'
            f' "{"a" * 62}-9", which is longer than 63',
        ),
        Case(
            "spec.parameters",
            [
                {"name": name, "searchSpace": {"categorical": {"choices": ["a"]}}}
                for name in ("a-b", "a.B")
            ],
            'spec.parameters[1].name: Invalid value: "a.B": it and a-b would both be the variable'
            " KUBEFLOW_TRAINER_OPT_A_B",
        ),
        Case(
            SPACE,
            {"categorical": {"choices": [""]}},
            f'{SPACE}.categorical.choices[0]: Invalid value: "": must not be empty or have a NUL'
            " character",
        ),
        Case(
            SPACE,
            {"uniform": {"min": "0", "max": "1e999"}},
            f'{SPACE}.uniform.max: Invalid value: "1e999": is too large for a number',
        ),
        Case(
            SPACE,
            {"uniform": {"min": "0", "max": "1e30", "type": "Int"}},
            f'{SPACE}.uniform.max: Invalid value: "1e30": is too large for a whole number of 64'
            " bits",
        ),
        Case(
            SPACE,
            {"uniform": {"min": "0.2", "max": "0.8", "type": "Int"}},
            f'{SPACE}.uniform: Invalid value: "from 0.2 to 0.8": no whole number is between'
            " min and max",
        ),
        Case(
            "spec.trainJobTemplate.metadata",
            {"annotations": {"trainway.dev/ttl-seconds-after-finished": "5"}},
            "spec.trainJobTemplate.metadata.annotations[trainway.dev/ttl-seconds-after-finished]:"
            " Forbidden: trials must stay until the search has ended, because nothing else has"
            " their values",
        ),
    ],
    ids=lambda case: case.path + str(case.value)[:20],
)
def test_what_the_crd_lets_pass_is_refused_where_it_could_not_run(case: Case) -> None:
    assert errors_of(changed(OPTIMIZATION_JOB, case.path, case.value)) == ()
    found = validate_optimizationjob(job(case.path, case.value))
    assert [str(error) for error in found] == [case.error]


def test_the_search_of_a_job() -> None:
    assert validate_optimizationjob(job()) == []
    found = search_of(job())
    spec = OPTIMIZATION_JOB["spec"]
    assert (found.metric, found.maximize) == ("loss", False)
    assert (found.trials, found.parallel) == (spec["numTrials"], spec["parallelTrials"])
    assert found.algorithm is Algorithm.RANDOM
    kinds = [type(space) for space in found.spaces.values()]
    assert kinds == [FloatRange, IntRange, Choices]
    ours = {"trainway.dev/algorithm": "tpe", "trainway.dev/pruning": "successive-halving"}
    other = search_of(job(ANNOTATIONS, ours))
    assert (other.algorithm, other.pruning) == (Algorithm.TPE, Pruning.HALVING)


def test_without_a_seed_two_jobs_try_different_values() -> None:
    one = search_of(job("spec.searchAlgorithm", ABSENT))
    two = search_of(job("spec.searchAlgorithm", ABSENT).model_copy(
        update={"metadata": job().metadata.model_copy(update={"uid": "other"})}
    ))  # fmt: skip
    assert one.seed != two.seed


def test_the_trainjob_of_a_trial() -> None:
    template = {
        "metadata": {"labels": {"team": "nlp"}},
        "spec": {
            "runtimeRef": {"name": "torch-distributed"},
            "trainer": {
                "env": [{"name": "A", "value": "1"}, {"name": "KUBEFLOW_TRAINER_OPT_LR"}],
                "numNodes": 2,
            },
        },
    }
    whole = job("spec.trainJobTemplate", template)
    made = trial_of(whole, Suggestion(3, {"lr": "0.1", "weight-decay": "$(HOME)"}))
    name = whole.metadata.name
    assert made["kind"] == "TrainJob"
    assert made["metadata"]["name"] == f"{name}-3"
    assert made["metadata"]["labels"] == {
        "team": "nlp",
        "trainway.dev/optimization-job": name,
        "trainway.dev/trial": "3",
    }
    assert json.loads(made["metadata"]["annotations"]["trainway.dev/parameters"]) == {
        "lr": "0.1",
        "weight-decay": "$(HOME)",
    }
    assert made["spec"]["trainer"] == {
        "env": [
            {"name": "A", "value": "1"},
            {"name": "KUBEFLOW_TRAINER_OPT_LR", "value": "0.1"},
            {"name": "KUBEFLOW_TRAINER_OPT_WEIGHT_DECAY", "value": "$$(HOME)"},
        ],
        "numNodes": 2,
    }
    assert index_of(made) == 3
    assert errors_of(made) == ()
    assert index_of({"metadata": {"labels": {"trainway.dev/trial": "-1"}}}) is None
