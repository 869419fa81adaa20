from typing import Any

import pytest

from trainway.api.examples_test import (
    CLUSTER_RUNTIME,
    TRAIN_JOB,
    TRAINING_RUNTIME,
    changed,
    errors_of,
)

PATCH = "spec.runtimePatches[].trainingRuntimeSpec.template"


@pytest.mark.parametrize(
    ("field", "value", "hint"),
    [
        (
            "podSpecOverrides",
            [],
            f"removed: use {PATCH}.spec.replicatedJobs[].template.spec.template.spec",
        ),
        ("labels", {"a": "b"}, f"removed in v2.2: use {PATCH}.metadata.labels"),
        ("annotations", {"a": "b"}, f"removed in v2.2: use {PATCH}.metadata.annotations"),
    ],
)
def test_of_a_trainjob(field: str, value: Any, hint: str) -> None:
    errors = errors_of(changed(TRAIN_JOB, f"spec.{field}", value))
    assert errors == (f"spec.{field}: Unknown field: {hint}",)


@pytest.mark.parametrize("runtime", [TRAINING_RUNTIME, CLUSTER_RUNTIME], ids=["some", "cluster"])
@pytest.mark.parametrize(
    ("field", "value", "hint"),
    [
        (
            "numProcPerNode",
            "auto",
            "removed in v2.2: set spec.trainer.numProcPerNode in the TrainJob",
        ),
        (
            "elasticPolicy",
            {"maxNodes": 4},
            "removed in v2.2 with elastic training: set spec.mlPolicy.numNodes",
        ),
        ("numNodes", 2, "set spec.mlPolicy.numNodes"),
    ],
)
def test_of_a_runtime(runtime: dict[str, Any], field: str, value: Any, hint: str) -> None:
    errors = errors_of(changed(runtime, f"spec.mlPolicy.torch.{field}", value))
    assert errors == (f"spec.mlPolicy.torch.{field}: Unknown field: {hint}",)


def test_a_label_of_the_same_name_elsewhere_is_no_removed_field() -> None:
    assert errors_of(changed(TRAIN_JOB, "metadata.labels", {"labels": "x"})) == ()
