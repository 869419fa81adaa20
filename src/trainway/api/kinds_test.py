import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.api.examples_test import EXAMPLES, TRAIN_JOB, changed, errors_of
from trainway.api.kinds import KINDS, Kind, check, kind_of, read
from trainway.json_types import Json
from trainway.schema.defaulting import with_defaults
from trainway.schema.structural import Schema

_TEXT = {
    "date-time": st.just("2026-01-31T12:00:00Z"),
}
_DEEPEST = 12


def values(schema: Schema, depth: int = 0) -> st.SearchStrategy[Any]:
    """Values of the right structure, and within the limits, that a schema describes."""
    if schema.enum:
        return st.sampled_from(schema.enum)
    match schema.type:
        case "object":
            return objects(schema, depth)
        case "array":
            assert schema.items is not None
            least = schema.min_items or 0
            most = min(schema.max_items or least + 1, least + 1)
            return st.lists(values(schema.items, depth + 1), min_size=least, max_size=most)
        case "boolean":
            return st.booleans()
        case "integer":
            return st.integers(schema.minimum or 0, schema.maximum or 2**31 - 1)
        case "string" if schema.format in _TEXT:
            return _TEXT[schema.format]
        case "string":
            least = schema.min_length or 0
            return st.text(min_size=least, max_size=least + 4)
    return st.one_of(st.integers(0, 9), st.just("1Gi"))


def objects(schema: Schema, depth: int) -> st.SearchStrategy[Json]:
    if schema.additional is not None:
        return st.dictionaries(
            st.text(max_size=4), values(schema.additional, depth + 1), max_size=2
        )
    required = {
        n: values(s, depth + 1) for n, s in schema.properties.items() if n in schema.required
    }
    optional = {
        n: values(s, depth + 1)
        for n, s in schema.properties.items()
        if n not in schema.required and depth < _DEEPEST and not schema.open
    }
    return st.fixed_dictionaries(required, optional=optional)


def jobs(kind: Kind) -> st.SearchStrategy[Json]:
    identity = {"apiVersion": kind.api_version, "kind": kind.kind}
    return objects(kind.schema(), 0).map(lambda obj: obj | identity)


any_job = st.one_of([jobs(kind) for kind in KINDS.values()])


@given(any_job)
def test_reading_keeps_every_field_and_only_adds_defaults(obj: Json) -> None:
    kind = KINDS[obj["apiVersion"], obj["kind"]]
    filled = kind.fill(with_defaults(kind.schema(), obj))
    assert read(obj).to_dict() == filled


@given(any_job)
def test_a_model_survives_a_round_trip(obj: Json) -> None:
    model = read(obj)
    again = json.loads(json.dumps(model.to_dict()))
    assert type(model).parse(again) == model
    assert read(again) == model


@given(any_job)
def test_checking_changes_nothing_and_never_breaks(obj: Json) -> None:
    before = json.dumps(obj)
    check(obj, obj)
    assert json.dumps(obj) == before


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
places = st.sampled_from(
    [
        "metadata",
        "metadata.name",
        "spec",
        "spec.runtimeRef",
        "spec.trainer",
        "spec.trainer.env",
        "spec.trainer.numNodes",
        "spec.runtimePatches",
        "spec.runtimePatches[0]",
        "spec.initializer.dataset.storageUri",
        "spec.mlPolicy",
        "spec.mlPolicy.torch",
        "spec.template",
        "spec.searchAlgorithm",
        "spec.parameters",
        "spec.mpiReplicaSpecs",
        "spec.runPolicy",
        "status",
    ]
)


@given(st.sampled_from(EXAMPLES), places, json_values)
def test_any_value_anywhere_is_judged_and_what_passes_can_be_read(
    example: Json, place: str, value: Any
) -> None:
    try:
        obj = changed(example, place, value)
    except (KeyError, IndexError):
        return  # this example has no such place
    if not check(obj, example).errors:
        read(obj)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: str(example["kind"]))
def test_full_example_is_read_as_it_is(example: Json) -> None:
    assert read(example).to_dict() == example


@pytest.mark.parametrize(
    ("obj", "error"),
    [
        ({}, "apiVersion: Required value"),
        ({"apiVersion": "trainer.kubeflow.org/v1alpha1"}, "kind: Required value"),
        (
            {"apiVersion": "kubeflow.org/v1", "kind": "MPIJob"},
            (
                'apiVersion: Unsupported value: "kubeflow.org/v1": supported values:'
                ' "trainer.kubeflow.org/v1alpha1", "kubeflow.org/v2beta1"'
            ),
        ),
        (
            {"apiVersion": "kubeflow.org/v2beta1", "kind": "TFJob"},
            'kind: Unsupported value: "TFJob": supported values: "MPIJob"',
        ),
        (
            {"apiVersion": "kubeflow.org/v2beta1", "kind": ["MPIJob"]},
            'kind: Unsupported value: ["MPIJob"]: supported values: "MPIJob"',
        ),
    ],
)
def test_unknown_kind(obj: Json, error: str) -> None:
    assert kind_of(obj) is None
    assert errors_of(obj) == (error,)


def test_nulls_count_as_absent() -> None:
    job = changed(TRAIN_JOB, "spec.trainer.image", None)
    job = changed(job, "spec.suspend", None)
    job = changed(job, "status", None)
    assert errors_of(job) == ()
    assert read(job).to_dict()["spec"]["suspend"] is False


def test_what_is_known_of_each_kind() -> None:
    facts = [(k.group, k.version, k.kind, k.plural, k.scope, k.has_status) for k in KINDS.values()]
    trainer, version = "trainer.kubeflow.org", "v1alpha1"
    assert facts == [
        (trainer, version, "TrainJob", "trainjobs", "Namespaced", True),
        (trainer, version, "TrainingRuntime", "trainingruntimes", "Namespaced", False),
        (trainer, version, "ClusterTrainingRuntime", "clustertrainingruntimes", "Cluster", False),
        (trainer, version, "OptimizationJob", "optimizationjobs", "Namespaced", True),
        ("kubeflow.org", "v2beta1", "MPIJob", "mpijobs", "Namespaced", True),
    ]
