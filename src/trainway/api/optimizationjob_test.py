from typing import Any

import pytest

from trainway.api.examples_test import (
    CONDITION,
    OPTIMIZATION_JOB,
    Case,
    changed,
    errors_of,
    refused,
)
from trainway.api.kinds import read
from trainway.api.optimizationjob import OptimizationJob
from trainway.schema.field import ABSENT

PARAMETERS = "spec.parameters"
LOG = f"{PARAMETERS}[0].searchSpace.logUniform"
UNIFORM = f"{PARAMETERS}[1].searchSpace.uniform"
CHOICES = f"{PARAMETERS}[2].searchSpace.categorical.choices"
RESULT = "status.result"
PATTERN = r"should match '^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$'"
ONE_SPACE = "exactly one of the fields in [uniform logUniform categorical] must be set"
ONE_ALGORITHM = "exactly one of the fields in [random grid] must be set"
TOO_LONG_64 = "Too long: may not be more than 64 characters long"
EMPTY = 'Invalid value: "": should be at least 1 chars long'
GRID = (
    "Grid search requires all parameters to be Categorical;"
    " Uniform and LogUniform are not supported."
)


def parameters(count: int) -> list[dict[str, Any]]:
    space = {"categorical": {"choices": ["a"]}}
    return [{"name": f"p{index}", "searchSpace": space} for index in range(count)]


def assignments(count: int) -> list[dict[str, Any]]:
    return [{"name": f"p{index}", "value": "1"} for index in range(count)]


OBJECTIVES = [
    refused("spec", ABSENT, "Required value"),
    refused("spec.objectives", ABSENT, "Required value"),
    refused("spec.objectives", [], "Invalid value: 0: should have at least 1 items"),
    refused(
        "spec.objectives", [{"metric": "a"}, {"metric": "b"}], "Too many: must have at most 1 items"
    ),
    refused("spec.objectives[0].metric", ABSENT, "Required value"),
    refused("spec.objectives[0].metric", "", EMPTY),
    Case("spec.objectives[0].metric", "m" * 64),
    refused("spec.objectives[0].metric", "m" * 65, TOO_LONG_64),
    Case("spec.objectives[0].direction", "Maximize"),
    refused(
        "spec.objectives[0].direction",
        "Up",
        'Unsupported value: "Up": supported values: "Maximize", "Minimize"',
    ),
]
ALGORITHM = [
    refused("spec.searchAlgorithm", {}, f"Invalid value: {ONE_ALGORITHM}"),
    Case(
        "spec.searchAlgorithm.grid",
        {},
        (f"spec: Invalid value: {GRID}", f"spec.searchAlgorithm: Invalid value: {ONE_ALGORITHM}"),
    ),
    refused("spec.searchAlgorithm", {"grid": {}}, f"Invalid value: {GRID}", at="spec"),
    Case("spec.searchAlgorithm", ABSENT),
]
SPACES = [
    refused(PARAMETERS, ABSENT, "Required value"),
    refused(PARAMETERS, [], "Invalid value: 0: should have at least 1 items"),
    Case(PARAMETERS, parameters(100)),
    refused(PARAMETERS, parameters(101), "Too many: must have at most 100 items"),
    refused(PARAMETERS, parameters(1) * 2, 'Duplicate value: {"name":"p0"}', at=f"{PARAMETERS}[1]"),
    refused(f"{PARAMETERS}[0].name", "", EMPTY),
    refused(f"{PARAMETERS}[0].name", "p" * 65, TOO_LONG_64),
    refused(f"{PARAMETERS}[0].searchSpace", ABSENT, "Required value"),
    refused(f"{PARAMETERS}[0].searchSpace", {}, f"Invalid value: {ONE_SPACE}"),
    refused(
        f"{PARAMETERS}[0].searchSpace.categorical",
        {"choices": ["a"]},
        f"Invalid value: {ONE_SPACE}",
        at=f"{PARAMETERS}[0].searchSpace",
    ),
    refused(f"{UNIFORM}.min", 1, 'Invalid value: "integer": must be of type string'),
    refused(f"{UNIFORM}.min", "01", f'Invalid value: "01": {PATTERN}'),
    refused(f"{UNIFORM}.min", "low", f'Invalid value: "low": {PATTERN}'),
    refused(f"{UNIFORM}.min", ABSENT, "Required value"),
    refused(f"{UNIFORM}.max", ABSENT, "Required value"),
    refused(
        f"{UNIFORM}.max", "-1", "Invalid value: min must be strictly less than max", at=UNIFORM
    ),
    Case(f"{UNIFORM}.max", "9." + "9" * 62),
    refused(f"{UNIFORM}.max", "9." + "9" * 63, TOO_LONG_64),
    refused(
        f"{UNIFORM}.type", "Bool", 'Unsupported value: "Bool": supported values: "Int", "Float"'
    ),
    refused(f"{LOG}.min", "0", "Invalid value: min must be strictly greater than 0", at=LOG),
    refused(f"{LOG}.max", "1e-5", "Invalid value: min must be strictly less than max", at=LOG),
    refused(CHOICES, ABSENT, "Required value"),
    refused(CHOICES, [], "Invalid value: 0: should have at least 1 items"),
    Case(CHOICES, [str(index) for index in range(100)]),
    refused(CHOICES, [str(index) for index in range(101)], "Too many: must have at most 100 items"),
    refused(CHOICES, ["a", "a"], 'Duplicate value: "a"', at=f"{CHOICES}[1]"),
    Case(CHOICES, ["a" * 64]),
    refused(CHOICES, ["a" * 65], TOO_LONG_64, at=f"{CHOICES}[0]"),
]
TRIALS = [
    Case("spec.numTrials", 100),
    refused("spec.numTrials", 101, "Invalid value: 101: must be less than or equal to 100"),
    refused(
        "spec.numTrials", 1, "Invalid value: parallelTrials cannot exceed numTrials", at="spec"
    ),
    refused(
        "spec.numTrials",
        ABSENT,
        "Invalid value: parallelTrials cannot exceed numTrials",
        at="spec",
    ),
    refused("spec.parallelTrials", 0, "Invalid value: 0: must be greater than or equal to 1"),
    Case("spec.parallelTrials", ABSENT),
    refused(
        "spec.trainJobTemplate.metadata.name",
        "x",
        "Invalid value: name and namespace cannot be set in a template.",
        at="spec.trainJobTemplate.metadata",
    ),
    refused(
        "spec.trainJobTemplate.metadata.namespace",
        "x",
        "Invalid value: name and namespace cannot be set in a template.",
        at="spec.trainJobTemplate.metadata",
    ),
    refused("spec.trainJobTemplate", ABSENT, "Required value"),
    refused("spec.trainJobTemplate.spec", ABSENT, "Required value"),
    refused(
        "spec.trainJobTemplate.spec.trainer",
        {"numNodes": -1},
        "Invalid value: -1: must be greater than or equal to 0",
        at="spec.trainJobTemplate.spec.trainer.numNodes",
    ),
]
STATUS = [
    Case("status", {}),
    Case("status.conditions", [CONDITION | {"type": f"T{index}"} for index in range(100)]),
    refused(
        "status.conditions",
        [CONDITION | {"type": f"T{index}"} for index in range(101)],
        "Too many: must have at most 100 items",
    ),
    refused(f"{RESULT}.trainJobName", ABSENT, "Required value"),
    refused(f"{RESULT}.trainJobName", "", EMPTY),
    Case(f"{RESULT}.trainJobName", "a" * 63),
    refused(
        f"{RESULT}.trainJobName", "a" * 64, "Too long: may not be more than 63 characters long"
    ),
    Case(f"{RESULT}.parameters", assignments(100)),
    refused(f"{RESULT}.parameters", assignments(101), "Too many: must have at most 100 items"),
    refused(f"{RESULT}.parameters[0].value", "", EMPTY),
    refused(f"{RESULT}.parameters[0].value", "v" * 65, TOO_LONG_64),
    refused(f"{RESULT}.parameters[0].name", "n" * 65, TOO_LONG_64),
]


@pytest.mark.parametrize("case", [*OBJECTIVES, *ALGORITHM, *SPACES, *TRIALS, *STATUS], ids=str)
def test_one_field(case: Case) -> None:
    assert errors_of(changed(OPTIMIZATION_JOB, case.path, case.value)) == case.errors


def test_grid_search_takes_choices() -> None:
    job = changed(OPTIMIZATION_JOB, "spec.searchAlgorithm", {"grid": {}})
    assert errors_of(changed(job, PARAMETERS, parameters(2))) == ()


def test_spec_is_immutable() -> None:
    new = changed(OPTIMIZATION_JOB, "spec.numTrials", 20)
    message = "OptimizationJobSpec is immutable and cannot be updated after creation"
    assert errors_of(new, OPTIMIZATION_JOB) == (f"spec: Invalid value: {message}",)
    assert errors_of(changed(OPTIMIZATION_JOB, "status", {}), OPTIMIZATION_JOB) == ()


def test_defaults_of_the_crd() -> None:
    job = OPTIMIZATION_JOB
    for path in ("searchAlgorithm", "numTrials", "parallelTrials"):
        job = changed(job, f"spec.{path}", ABSENT)
    for path in ("spec.objectives[0].direction", f"{UNIFORM}.type"):
        job = changed(job, path, ABSENT)
    model = read(job)
    assert isinstance(model, OptimizationJob)
    spec = model.to_dict()["spec"]
    assert spec["searchAlgorithm"] == {"random": {}}
    assert (spec["numTrials"], spec["parallelTrials"]) == (1, 1)
    assert spec["objectives"] == [{"metric": "loss", "direction": "Minimize"}]
    assert spec["parameters"][1]["searchSpace"]["uniform"]["type"] == "Float"
