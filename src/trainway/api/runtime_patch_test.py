import copy
from typing import Any

import pytest

from trainway.api.examples_test import (
    PATCH,
    TIME,
    TRAIN_JOB,
    Case,
    changed,
    errors_of,
    refused,
)
from trainway.schema.field import ABSENT

ENTRY = "spec.runtimePatches[0]"
JOBS = f"{ENTRY}.trainingRuntimeSpec.template.spec.replicatedJobs"
POD = f"{JOBS}[0].template.spec.template.spec"
CONTAINER = f"{POD}.containers[0]"
MOUNT = {"name": "data", "mountPath": "/a"}


def named(count: int, **fields: Any) -> list[dict[str, Any]]:
    return [{"name": f"n{index}", **fields} for index in range(count)]


LIMITS = [
    Case("spec.runtimePatches", [{"manager": f"a.io/{index}"} for index in range(16)]),
    refused(
        "spec.runtimePatches",
        [{"manager": f"a.io/{index}"} for index in range(17)],
        "Too many: must have at most 16 items",
    ),
    refused(
        "spec.runtimePatches",
        [{"manager": "a.io/x"}, {"manager": "a.io/x"}],
        'Duplicate value: {"manager":"a.io/x"}',
        at="spec.runtimePatches[1]",
    ),
    refused(f"{ENTRY}.manager", ABSENT, "Required value"),
    refused(f"{ENTRY}.manager", "", 'Invalid value: "": should be at least 1 chars long'),
    Case(f"{ENTRY}.manager", "a" * 253),
    refused(f"{ENTRY}.manager", "a" * 254, "Too long: may not be more than 253 characters long"),
    refused(
        f"{ENTRY}.time",
        "noon",
        'Invalid value: "noon": must be a date and time as in RFC 3339: 2026-01-31T12:00:00Z',
    ),
    Case(JOBS, named(100)),
    refused(JOBS, named(101), "Too many: must have at most 100 items"),
    refused(JOBS, [{"name": "a"}] * 2, 'Duplicate value: {"name":"a"}', at=f"{JOBS}[1]"),
    refused(f"{JOBS}[0].name", "", 'Invalid value: "": should be at least 1 chars long'),
    refused(f"{JOBS}[0].name", "a" * 254, "Too long: may not be more than 253 characters long"),
    refused(f"{JOBS}[0].name", ABSENT, "Required value"),
    refused(f"{JOBS}[0].replicas", 2, "Unknown field"),
    Case(f"{POD}.serviceAccountName", "a" * 253),
    refused(
        f"{POD}.serviceAccountName",
        "a" * 254,
        "Too long: may not be more than 253 characters long",
    ),
    Case(f"{POD}.volumes", named(128)),
    refused(f"{POD}.volumes", named(129), "Too many: must have at most 128 items"),
    refused(
        f"{POD}.volumes",
        [{"name": "a"}] * 2,
        'Duplicate value: {"name":"a"}',
        at=f"{POD}.volumes[1]",
    ),
    Case(f"{POD}.initContainers", named(64)),
    refused(f"{POD}.initContainers", named(65), "Too many: must have at most 64 items"),
    Case(f"{POD}.containers", named(64)),
    refused(f"{POD}.containers", named(65), "Too many: must have at most 64 items"),
    refused(
        f"{POD}.containers",
        [{"name": "a"}] * 2,
        'Duplicate value: {"name":"a"}',
        at=f"{POD}.containers[1]",
    ),
    Case(f"{POD}.imagePullSecrets", named(64)),
    refused(f"{POD}.imagePullSecrets", named(65), "Too many: must have at most 64 items"),
    Case(f"{POD}.tolerations", [{"key": "a"}] * 128),
    refused(f"{POD}.tolerations", [{"key": "a"}] * 129, "Too many: must have at most 128 items"),
    Case(f"{POD}.schedulingGates", named(16)),
    refused(f"{POD}.schedulingGates", named(17), "Too many: must have at most 16 items"),
    Case(f"{POD}.terminationGracePeriodSeconds", 0),
    refused(
        f"{POD}.terminationGracePeriodSeconds",
        -1,
        "Invalid value: -1: must be greater than or equal to 0",
    ),
    refused(f"{POD}.hostNetwork", True, "Unknown field"),
    refused(f"{CONTAINER}.name", ABSENT, "Required value"),
    refused(f"{CONTAINER}.name", "", 'Invalid value: "": should be at least 1 chars long'),
    refused(f"{CONTAINER}.name", "a" * 254, "Too long: may not be more than 253 characters long"),
    refused(f"{CONTAINER}.resources", {}, "Unknown field"),
    Case(f"{CONTAINER}.env", named(128)),
    refused(f"{CONTAINER}.env", named(129), "Too many: must have at most 128 items"),
    Case(f"{CONTAINER}.volumeMounts", named(128, mountPath="/a")),
    refused(
        f"{CONTAINER}.volumeMounts",
        named(129, mountPath="/a"),
        "Too many: must have at most 128 items",
    ),
    refused(
        f"{CONTAINER}.volumeMounts",
        [MOUNT, MOUNT | {"mountPath": "/b"}],
        'Duplicate value: {"name":"data"}',
        at=f"{CONTAINER}.volumeMounts[1]",
    ),
]


@pytest.mark.parametrize("case", LIMITS, ids=str)
def test_one_field(case: Case) -> None:
    assert errors_of(changed(TRAIN_JOB, case.path, case.value)) == case.errors


CHANGES = [
    refused(f"{POD}.serviceAccountName", "x", 'Invalid value: "x": field is immutable'),
    refused(f"{POD}.volumes", [], "Invalid value: field is immutable"),
    refused(f"{POD}.initContainers", [], "Invalid value: field is immutable"),
    refused(f"{CONTAINER}.env", [], "Invalid value: field is immutable", at=f"{POD}.containers"),
    refused(f"{POD}.imagePullSecrets", [], "Invalid value: field is immutable"),
    refused(f"{POD}.securityContext", {}, "Invalid value: field is immutable"),
    refused(f"{POD}.terminationGracePeriodSeconds", 1, "Invalid value: 1: field is immutable"),
    Case(f"{POD}.nodeSelector", {"zone": "b"}),
    Case(f"{POD}.affinity", ABSENT),
    Case(f"{POD}.tolerations", []),
    Case(f"{POD}.schedulingGates", []),
    Case(f"{ENTRY}.time", TIME.replace("12", "13")),
    Case(f"{ENTRY}.trainingRuntimeSpec.template.metadata", {}),
    Case(f"{ENTRY}.manager", "acme.io/bar"),
    Case("spec.runtimePatches", []),
]


@pytest.mark.parametrize("case", CHANGES, ids=str)
def test_change(case: Case) -> None:
    assert errors_of(changed(TRAIN_JOB, case.path, case.value), TRAIN_JOB) == case.errors


def test_entries_are_compared_by_manager_not_by_place() -> None:
    old = changed(TRAIN_JOB, "spec.runtimePatches", [PATCH, {"manager": "kueue.x-k8s.io/k"}])
    new = changed(old, "spec.runtimePatches", old["spec"]["runtimePatches"][::-1])
    assert errors_of(new, old) == ()
    new = copy.deepcopy(new)
    spec = new["spec"]["runtimePatches"][1]["trainingRuntimeSpec"]["template"]["spec"]
    spec["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["serviceAccountName"] = "x"
    where = POD.replace("runtimePatches[0]", "runtimePatches[1]")
    assert errors_of(new, old) == (
        f'{where}.serviceAccountName: Invalid value: "x": field is immutable',
    )
