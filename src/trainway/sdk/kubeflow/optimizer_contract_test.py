"""Our optimizer against the published package, where that is installed."""

import inspect
from dataclasses import fields
from typing import Any

import pytest

from trainway.sdk import kubeflow as ours
from trainway.sdk.kubeflow.adoption import adopted
from trainway.sdk.kubeflow.contract_test import parameters, public_names
from trainway.sdk.kubeflow.contract_testing import GROUP, OPTIMIZER_METHODS, published
from trainway.sdk.kubeflow.types import optimizer as our_types

pytestmark = GROUP


@pytest.fixture
def theirs() -> Any:
    return published("optimizer")


def test_every_name_is_there(theirs: Any) -> None:
    assert set(theirs.__all__) <= set(ours.__all__)
    assert public_names(theirs.OptimizerClient) == OPTIMIZER_METHODS


@pytest.mark.parametrize("name", OPTIMIZER_METHODS)
def test_every_method_takes_the_same_arguments(name: str, theirs: Any) -> None:
    mine, other = getattr(ours.OptimizerClient, name), getattr(theirs.OptimizerClient, name)
    assert parameters(mine) == parameters(other)
    kinds = [[item.kind for item in inspect.signature(each).parameters.values()]
             for each in (mine, other)]  # fmt: skip
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize("name", ["uniform", "loguniform", "choice"])
def test_every_search_takes_the_same_arguments(name: str, theirs: Any) -> None:
    assert parameters(getattr(ours.Search, name)) == parameters(getattr(theirs.Search, name))


@pytest.mark.parametrize(
    "name", ["Objective", "TrialConfig", "Metric", "Result", "Trial", "OptimizationJob"]
)
def test_every_type_has_the_same_fields(name: str) -> None:
    their_types = published("optimizer.types.optimization_types")

    def named(kind: Any) -> list[str]:
        return [item.name for item in fields(kind)]

    assert named(getattr(our_types, name)) == named(getattr(their_types, name))


def test_objects_of_the_published_package_are_taken(theirs: Any) -> None:
    assert adopted(theirs.Objective("acc", "maximize")) == ours.Objective(
        "acc", ours.Direction.MAXIMIZE
    )
    assert adopted(theirs.RandomSearch(7)) == ours.RandomSearch(7)
    assert adopted(theirs.TrialConfig(5, 2)) == ours.TrialConfig(5, 2)
