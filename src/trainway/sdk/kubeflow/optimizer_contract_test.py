"""Our optimizer against the published package, where that is installed."""

import inspect
from dataclasses import fields
from typing import Any

import pytest

from trainway.sdk import kubeflow as ours
from trainway.sdk.kubeflow.adoption import adopted
from trainway.sdk.kubeflow.contract_test import parameters
from trainway.sdk.kubeflow.types import optimizer as our_types

theirs = pytest.importorskip("kubeflow.optimizer", reason="kubeflow is not installed")
their_types = pytest.importorskip("kubeflow.optimizer.types.optimization_types")


def test_every_name_is_there() -> None:
    assert set(theirs.__all__) <= set(ours.__all__)


@pytest.mark.parametrize(
    "name", [name for name in vars(theirs.OptimizerClient) if not name.startswith("_")]
)
def test_every_method_takes_the_same_arguments(name: str) -> None:
    mine, published = getattr(ours.OptimizerClient, name), getattr(theirs.OptimizerClient, name)
    assert parameters(mine) == parameters(published)
    kinds = [[item.kind for item in inspect.signature(each).parameters.values()]
             for each in (mine, published)]  # fmt: skip
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize("name", ["uniform", "loguniform", "choice"])
def test_every_search_takes_the_same_arguments(name: str) -> None:
    assert parameters(getattr(ours.Search, name)) == parameters(getattr(theirs.Search, name))


@pytest.mark.parametrize(
    "name", ["Objective", "TrialConfig", "Metric", "Result", "Trial", "OptimizationJob"]
)
def test_every_type_has_the_same_fields(name: str) -> None:
    def named(kind: Any) -> list[str]:
        return [item.name for item in fields(kind)]

    assert named(getattr(our_types, name)) == named(getattr(their_types, name))


def test_objects_of_the_published_package_are_taken() -> None:
    assert adopted(theirs.Objective("acc", "maximize")) == ours.Objective(
        "acc", ours.Direction.MAXIMIZE
    )
    assert adopted(theirs.RandomSearch(7)) == ours.RandomSearch(7)
    assert adopted(theirs.TrialConfig(5, 2)) == ours.TrialConfig(5, 2)
