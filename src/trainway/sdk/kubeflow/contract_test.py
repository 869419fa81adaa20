"""Ours against the published package, where that is installed."""

import dataclasses
import enum
import inspect
from typing import Any

import pytest

from trainway.sdk import kubeflow as ours
from trainway.sdk.kubeflow import options as our_options
from trainway.sdk.kubeflow import types as our_types

theirs = pytest.importorskip("kubeflow.trainer", reason="kubeflow is not installed")
their_options = pytest.importorskip("kubeflow.trainer.options")
their_types = pytest.importorskip("kubeflow.trainer.types.types")

DIFFERENT_DEFAULT = {"pip_index_urls"}
"""Ours leaves the index to pip's own configuration."""


def fields(kind: Any) -> dict[str, Any]:
    """Names and defaults; factories are called."""
    found = {}
    for field in dataclasses.fields(kind):
        if not field.init:
            continue
        default: Any = field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        found[field.name] = "" if field.name in DIFFERENT_DEFAULT else repr(default)
    return found


def parameters(function: Any) -> list[tuple[str, Any]]:
    return [
        (parameter.name, set(parameter.default))
        if isinstance(parameter.default, set | frozenset)
        else (parameter.name, parameter.default)
        for parameter in inspect.signature(function).parameters.values()
    ]


def test_every_name_is_there() -> None:
    assert set(theirs.__all__) <= set(ours.__all__)
    assert set(their_options.__all__) <= set(our_options.__all__)


@pytest.mark.parametrize(
    ("mine", "published"),
    [
        pytest.param(getattr(module, name), getattr(package, name), id=name)
        for module, package in ((our_types, their_types), (our_options, their_options))
        for name in dir(package)
        if dataclasses.is_dataclass(getattr(package, name))
    ],
)
def test_every_type_has_the_same_fields(mine: Any, published: Any) -> None:
    assert fields(mine) == fields(published)


@pytest.mark.parametrize(
    "name",
    [name for name in dir(their_types) if isinstance(getattr(their_types, name), enum.EnumMeta)],
)
def test_every_choice_has_the_same_values(name: str) -> None:
    if name != "Enum":
        values = [(item.name, item.value) for item in getattr(their_types, name)]
        assert [(item.name, item.value) for item in getattr(our_types, name)] == values


@pytest.mark.parametrize(
    "name", [name for name in vars(theirs.TrainerClient) if not name.startswith("_")]
)
def test_every_method_takes_the_same_arguments(name: str) -> None:
    published = getattr(theirs.TrainerClient, name)
    assert parameters(getattr(ours.TrainerClient, name)) == parameters(published)


@pytest.mark.parametrize("name", ["update_trainjob_status", "get_tpu_num_nodes"])
def test_every_function_takes_the_same_arguments(name: str) -> None:
    assert parameters(getattr(ours, name)) == parameters(getattr(theirs, name))
