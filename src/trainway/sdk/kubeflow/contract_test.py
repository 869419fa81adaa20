"""Ours against the published package, where that is installed."""

import dataclasses
import enum
import inspect
from typing import Any

import pytest

from trainway.sdk import kubeflow as ours
from trainway.sdk.kubeflow import options as our_options
from trainway.sdk.kubeflow.adoption import adopted
from trainway.sdk.kubeflow.constants import constants as our_constants
from trainway.sdk.kubeflow.contract_testing import (
    CHOICES,
    CONSTANTS,
    GROUP,
    METHODS,
    OPTIONS,
    TYPES,
    published,
)
from trainway.sdk.kubeflow.options import kubernetes as our_kubernetes_options
from trainway.sdk.kubeflow.types import types as our_types

pytestmark = GROUP

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


@pytest.fixture
def theirs() -> Any:
    return published("trainer")


@pytest.fixture
def their_options() -> Any:
    return published("trainer.options")


@pytest.fixture
def their_types() -> Any:
    return published("trainer.types.types")


@pytest.fixture
def their_constants() -> Any:
    return published("trainer.constants.constants")


def dataclasses_of(module: Any) -> list[str]:
    return [name for name in dir(module) if dataclasses.is_dataclass(getattr(module, name))]


def public_names(kind: type) -> list[str]:
    return sorted(name for name in vars(kind) if not name.startswith("_"))


def test_every_name_is_there(theirs: Any, their_options: Any) -> None:
    assert set(theirs.__all__) <= set(ours.__all__)
    assert set(their_options.__all__) <= set(our_options.__all__)


def test_nothing_of_what_is_published_is_left_out_here(
    theirs: Any, their_options: Any, their_types: Any, their_constants: Any
) -> None:
    assert dataclasses_of(their_types) == TYPES
    assert dataclasses_of(their_options) == OPTIONS
    kinds = [name for name, kind in vars(their_types).items() if isinstance(kind, enum.EnumMeta)]
    assert sorted(kinds) == CHOICES
    assert public_names(theirs.TrainerClient) == METHODS
    constants = {name for name in vars(their_constants) if name.isupper()}
    assert sorted(constants - COMMANDS) == CONSTANTS


@pytest.mark.parametrize("name", TYPES)
def test_every_type_has_the_same_fields(name: str, their_types: Any) -> None:
    assert fields(getattr(our_types, name)) == fields(getattr(their_types, name))


@pytest.mark.parametrize("name", OPTIONS)
def test_every_option_has_the_same_fields(name: str, their_options: Any) -> None:
    assert fields(getattr(our_options, name)) == fields(getattr(their_options, name))


@pytest.mark.parametrize("name", CHOICES)
def test_every_choice_has_the_same_values(name: str, their_types: Any) -> None:
    if name != "Enum":
        values = [(item.name, item.value) for item in getattr(their_types, name)]
        assert [(item.name, item.value) for item in getattr(our_types, name)] == values


@pytest.mark.parametrize("name", METHODS)
def test_every_method_takes_the_same_arguments(name: str, theirs: Any) -> None:
    method = getattr(theirs.TrainerClient, name)
    assert parameters(getattr(ours.TrainerClient, name)) == parameters(method)


@pytest.mark.parametrize("name", ["update_trainjob_status", "get_tpu_num_nodes"])
def test_every_function_takes_the_same_arguments(name: str, theirs: Any) -> None:
    assert parameters(getattr(ours, name)) == parameters(getattr(theirs, name))


COMMANDS = {"EXEC_FUNC_SCRIPT", "DEFAULT_COMMAND", "MPI_COMMAND", "TORCH_COMMAND"}
"""What only upstream's client puts into a job."""


@pytest.mark.parametrize("name", CONSTANTS)
def test_every_constant_has_the_same_value(name: str, their_constants: Any) -> None:
    assert getattr(our_constants, name) == getattr(their_constants, name)


def test_every_option_is_in_the_module_where_it_is_published() -> None:
    names = dataclasses_of(published("trainer.options.kubernetes"))
    missing = [name for name in names if not hasattr(our_kubernetes_options, name)]
    assert [name for name in missing if not hasattr(our_types, name)] == []


def test_published_objects_are_taken_for_ours(
    theirs: Any, their_options: Any, their_types: Any
) -> None:
    config = theirs.TorchTuneConfig(dtype=theirs.DataType.BF16, peft_config=theirs.LoraConfig())
    trainer = adopted(theirs.BuiltinTrainer(config))
    assert trainer == ours.BuiltinTrainer(
        ours.TorchTuneConfig(dtype=ours.DataType.BF16, peft_config=ours.LoraConfig())
    )
    pod = their_options.PodSpecPatch(node_selector={"a": "b"})
    job = their_options.JobSpecPatch(their_options.PodTemplatePatch(spec=pod))
    roles = [their_options.ReplicatedJobPatch("node", their_options.JobTemplatePatch(spec=job))]
    jobset = their_options.JobSetTemplatePatch(spec=their_options.JobSetSpecPatch(roles))
    patch = their_options.RuntimePatch(their_options.TrainingRuntimeSpecPatch(jobset))
    made: dict[str, Any] = {"spec": {}}
    for option in adopted([their_options.Name("mine"), patch]):
        option(made, None, None)
    assert made["metadata"]["name"] == "mine"
    (role,) = made["spec"]["runtimePatches"][0]["trainingRuntimeSpec"]["template"]["spec"][
        "replicatedJobs"
    ]
    assert role["template"]["spec"]["template"]["spec"] == {"nodeSelector": {"a": "b"}}
    kind = their_types.TrainerType.CUSTOM_TRAINER
    runtime = their_types.RuntimeTrainer(kind, "torch", "image")
    runtime.set_command(("torchrun",))
    assert adopted(runtime).command == ("torchrun",)
    assert adopted("text") == "text"
