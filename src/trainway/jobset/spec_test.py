import copy
from dataclasses import dataclass
from typing import Any

import pytest

from trainway.jobset.spec import JOBSET, JOBSET_SPEC
from trainway.schema.defaulting import with_defaults
from trainway.schema.validation import validate

TEMPLATE = {"spec": {"template": {"spec": {"containers": [{"name": "c"}]}}}}
STARTUP_RULE = "Invalid value: StartupPolicy and DependsOn APIs are mutually exclusive"
NAMESPACE_RULE = "Invalid value: namespace cannot be set for VolumeClaimPolicies templates"


def _job(name: str = "a", **more: Any) -> dict[str, Any]:
    return {"name": name, "template": TEMPLATE, **more}


def _claims(*templates: dict[str, Any]) -> dict[str, Any]:
    return {"volumeClaimPolicies": [{"templates": list(templates)}]}


IN_ORDER = {"startupPolicy": {"startupPolicyOrder": "InOrder"}}
AFTER_A = [{"name": "a", "status": "Ready"}]


@dataclass(frozen=True)
class Case:
    spec: dict[str, Any]
    error: str = ""


@pytest.mark.parametrize(
    "case",
    [
        Case({}),
        Case({"replicatedJobs": [_job(), _job("b", dependsOn=AFTER_A)]}),
        Case(
            {"replicatedJobs": [_job(), _job()]},
            'replicatedJobs[1]: Duplicate value: {"name":"a"}',
        ),
        Case({"replicatedJobs": [{"name": "a"}]}, "replicatedJobs[0].template: Required value"),
        Case(
            {"replicatedJobs": [{"template": TEMPLATE}]}, "replicatedJobs[0].name: Required value"
        ),
        Case(
            {"replicatedJobs": [_job(dependsOn=[{"name": "b", "status": "Done"}])]},
            'replicatedJobs[0].dependsOn[0].status: Unsupported value: "Done": '
            'supported values: "Ready", "Complete"',
        ),
        Case(
            {
                "replicatedJobs": [
                    _job(dependsOn=[{"name": c, "status": "Ready"} for c in "abcdef"])
                ]
            },
            "replicatedJobs[0].dependsOn: Too many: must have at most 5 items",
        ),
        Case({"ttlSecondsAfterFinished": -1}, "ttlSecondsAfterFinished: Invalid value: -1"),
        Case({"coordinator": {}}, "coordinator.replicatedJob: Required value"),
        Case({"successPolicy": {}}, "successPolicy.operator: Required value"),
        Case({"startupPolicy": {}}, "startupPolicy.startupPolicyOrder: Required value"),
        Case(
            {"failurePolicy": {"rules": [{"action": "Panic", "name": "x"}]}},
            'failurePolicy.rules[0].action: Unsupported value: "Panic"',
        ),
        Case(
            {"failurePolicy": {"rules": [{"action": "FailJobSet"}]}},
            "failurePolicy.rules[0].name: Required value",
        ),
        Case({"failurePolicy": {"restartStrategy": "Never"}}, "failurePolicy.restartStrategy"),
        Case({"network": {"subDomain": "x"}}, "network.subDomain: Unknown field"),
        Case({**IN_ORDER, "replicatedJobs": [_job(), _job("b")]}),
        Case({**IN_ORDER, "replicatedJobs": [_job(), _job("b", dependsOn=AFTER_A)]}, STARTUP_RULE),
        Case({**IN_ORDER, "replicatedJobs": [_job(dependsOn=[])]}, STARTUP_RULE),
        Case(IN_ORDER, STARTUP_RULE),
        Case(_claims({"metadata": {"name": "c"}}, {"metadata": {"namespace": ""}})),
        Case(
            _claims({"metadata": {"name": "c", "namespace": "other"}}),
            f"volumeClaimPolicies[0]: {NAMESPACE_RULE}",
        ),
        Case(_claims({}), f"volumeClaimPolicies[0]: {NAMESPACE_RULE}"),
        Case({"volumeClaimPolicies": [{}]}, f"volumeClaimPolicies[0]: {NAMESPACE_RULE}"),
        Case(
            {"volumeClaimPolicies": [{"templates": []}] * 51},
            "volumeClaimPolicies: Too many: must have at most 50 items",
        ),
    ],
    ids=lambda case: case.error or "valid",
)
def test_the_schema_of_a_spec(case: Case) -> None:
    errors = [str(error) for error in validate(JOBSET_SPEC, case.spec).errors]
    assert len(errors) == bool(case.error)
    assert all(error.startswith(case.error) for error in errors)


@pytest.mark.parametrize(
    ("field", "before", "after"),
    [
        ("network", {"subdomain": "a"}, {"subdomain": "b"}),
        ("successPolicy", {"operator": "All"}, {"operator": "Any"}),
        ("failurePolicy", {"maxRestarts": 1}, {"maxRestarts": 2}),
        ("startupPolicy", {"startupPolicyOrder": "AnyOrder"}, {"startupPolicyOrder": "InOrder"}),
        ("volumeClaimPolicies", [{"templates": []}], []),
    ],
)
def test_what_cannot_change(field: str, before: Any, after: Any) -> None:
    jobs = {"replicatedJobs": [_job()]}
    old, new = {**jobs, field: before}, {**jobs, field: after}
    assert validate(JOBSET_SPEC, old, copy.deepcopy(old)).errors == []
    assert validate(JOBSET_SPEC, new).errors == []
    assert validate(JOBSET_SPEC, new, jobs).errors == []
    errors = validate(JOBSET_SPEC, new, old).errors
    assert [str(error) for error in errors] == [f"{field}: Invalid value: Value is immutable"]


def test_dependencies_cannot_change() -> None:
    old = {"replicatedJobs": [_job(), _job("b", dependsOn=AFTER_A)]}
    new = {"replicatedJobs": [_job("b", dependsOn=[{"name": "a", "status": "Complete"}]), _job()]}
    errors = validate(JOBSET_SPEC, new, old).errors
    assert [error.field for error in errors] == ["replicatedJobs[0].dependsOn"]


def test_defaults() -> None:
    spec = {
        "replicatedJobs": [_job(), _job("b", replicas=0)],
        "failurePolicy": {},
        "volumeClaimPolicies": [{"retentionPolicy": {}}, {}],
    }
    assert with_defaults(JOBSET_SPEC, spec) == {
        "replicatedJobs": [
            _job(groupName="default", replicas=1),
            _job("b", groupName="default", replicas=0),
        ],
        "failurePolicy": {"restartStrategy": "Recreate"},
        "volumeClaimPolicies": [{"retentionPolicy": {"whenDeleted": "Delete"}}, {}],
    }


def test_a_whole_jobset() -> None:
    jobset = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "x", "labels": {"a": "b"}},
        "spec": {"replicatedJobs": [_job()]},
        "status": {
            "restarts": 1,
            "replicatedJobsStatus": [
                {"name": "a", "ready": 1, "succeeded": 0, "failed": 0, "active": 1, "suspended": 0}
            ],
        },
    }
    assert validate(JOBSET, jobset).errors == []
    jobset["status"] = {"replicatedJobsStatus": [{"name": "a"}], "restarts": "1"}
    fields = [error.field for error in validate(JOBSET, jobset).errors]
    assert fields == [
        *(
            f"status.replicatedJobsStatus[0].{name}"
            for name in ("active", "failed", "ready", "succeeded", "suspended")
        ),
        "status.restarts",
    ]
