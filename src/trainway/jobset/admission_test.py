import copy
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.jobset.admission import validate_create, validate_update, with_webhook_defaults
from trainway.jobset.spec import JOBSET
from trainway.json_types import Json
from trainway.schema.validation import validate

MAX_INT32 = 2**31 - 1


def _job(
    name: str = "node", *, pod: Json | None = None, job: Json | None = None, **more: Any
) -> Json:
    pod_spec = {"containers": [{"name": "c"}], **(pod or {})}
    return {
        "name": name,
        "template": {"spec": {**(job or {}), "template": {"spec": pod_spec}}},
        **more,
    }


def _jobset(*jobs: Json, name: str = "x", **spec: Any) -> Json:
    return {"metadata": {"name": name}, "spec": {"replicatedJobs": list(jobs or [_job()]), **spec}}


def _rules(*rules: Json) -> Json:
    return {"rules": [{"name": "r", "action": "FailJobSet", **rule} for rule in rules]}


def _claims(*names: str) -> list[Json]:
    return [{"templates": [{"metadata": {"name": name}} for name in names]}]


def _mounting(*names: str) -> Json:
    mounts = [{"name": name, "mountPath": f"/{name}"} for name in names]
    return {"containers": [{"name": "c", "volumeMounts": mounts}]}


IN_PLACE = {"restartStrategy": "InPlaceRestart"}
RESTART_JOB = _rules({"action": "RestartJob"})


def test_defaults_are_those_of_the_webhook() -> None:
    jobset = _jobset(
        _job(),
        _job("b", pod={"restartPolicy": "Never"}, job={"completionMode": "NonIndexed"}),
        failurePolicy={"rules": [{"action": "FailJobSet"}, {"name": "mine"}]},
        volumeClaimPolicies=[{}, {"retentionPolicy": {"whenDeleted": "Retain"}}],
    )
    before = copy.deepcopy(jobset)
    filled = with_webhook_defaults(jobset)
    assert jobset == before
    assert with_webhook_defaults(filled) == filled
    assert filled["spec"] == {
        "replicatedJobs": [
            _job(pod={"restartPolicy": "OnFailure"}, job={"completionMode": "Indexed"}),
            _job("b", pod={"restartPolicy": "Never"}, job={"completionMode": "NonIndexed"}),
        ],
        "successPolicy": {"operator": "All"},
        "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
        "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
        "failurePolicy": {
            "rules": [{"action": "FailJobSet", "name": "failurePolicyRule0"}, {"name": "mine"}]
        },
        "volumeClaimPolicies": [
            {"retentionPolicy": {"whenDeleted": "Delete"}},
            {"retentionPolicy": {"whenDeleted": "Retain"}},
        ],
    }


def test_what_is_given_stays() -> None:
    given_spec = {
        "replicatedJobs": [],
        "successPolicy": {"operator": "Any"},
        "startupPolicy": {"startupPolicyOrder": "InOrder"},
        "network": {"enableDNSHostnames": False, "publishNotReadyAddresses": False},
    }
    assert with_webhook_defaults({"spec": given_spec}) == {"spec": given_spec}


def test_a_template_without_pods_is_refused_by_the_schema_afterwards() -> None:
    filled = with_webhook_defaults({"spec": {"replicatedJobs": [{"name": "a", "template": {}}]}})
    fields = [error.field for error in validate(JOBSET, filled).errors]
    assert fields == ["spec.replicatedJobs[0].template.spec.template.spec.containers"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                ["replicatedJobs", "template", "spec", "network", "failurePolicy", "rules", "name"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(json_values)
def test_defaults_take_whatever_comes(value: Any) -> None:
    filled = with_webhook_defaults({"spec": value})
    assert with_webhook_defaults(filled) == filled


@dataclass(frozen=True)
class Case:
    name: str
    jobset: Json
    errors: tuple[str, ...] = ()


CREATE = [
    Case("plain", _jobset()),
    Case("no jobs at all", {"metadata": {"name": "x"}, "spec": {"replicatedJobs": []}}),
    Case("a name to be generated", {"metadata": {"generateName": "x-"}, "spec": {}}),
    Case("no name", {"metadata": {}, "spec": {}}, ("metadata.name: Required value",)),
    Case("a wrong name", _jobset(name="1x"), ('metadata.name: Invalid value: "1x": must be',)),
    Case("an upper case name", _jobset(name="Aa"), ('metadata.name: Invalid value: "Aa"',)),
    Case(
        "a wrong name of a job",
        _jobset(_job("B_c")),
        ('spec.replicatedJobs[0].name: Invalid value: "B_c": must be lower case',),
    ),
    Case("a name that just fits", _jobset(name="x" * 56)),
    Case(
        "job names too long",
        _jobset(name="x" * 57),
        ('spec.replicatedJobs[0].name: Invalid value: "node": its jobs would have names such as',),
    ),
    Case("pod names that just fit", _jobset(_job(job={"completions": 10}), name="x" * 48)),
    Case(
        "pod names too long",
        _jobset(_job(job={"completions": 11}), name="x" * 48),
        ('spec.replicatedJobs[0].name: Invalid value: "node": its pods would have names such as',),
    ),
    Case(
        "a job without index has shorter pod names",
        _jobset(_job(job={"completions": 11, "completionMode": "NonIndexed"}), name="x" * 48),
    ),
    Case(
        "group name",
        _jobset(_job(groupName="a.b")),
        ('spec.replicatedJobs[0].groupName: Invalid value: "a.b"',),
    ),
    Case(
        "too many pods",
        _jobset(_job(replicas=2**16, job={"parallelism": 2**15})),
        ("spec.replicatedJobs[0].replicas: Invalid value: 65536: the product of",),
    ),
    Case(
        "dependencies",
        _jobset(_job("a"), _job("b", dependsOn=[{"name": "a", "status": "Ready"}])),
    ),
    Case(
        "the first job depends on something",
        _jobset(_job("a", dependsOn=[])),
        ("spec.replicatedJobs[0].dependsOn: Forbidden: the first replicated job",),
    ),
    Case(
        "dependencies on itself, on a later job, on none",
        _jobset(
            _job("a"),
            _job("b", dependsOn=[{"name": name, "status": "Ready"} for name in "bcz"]),
            _job("c"),
        ),
        tuple(
            f'spec.replicatedJobs[1].dependsOn[{index}].name: Invalid value: "{name}": '
            "must be a replicated job that comes before this one: a"
            for index, name in enumerate("bcz")
        ),
    ),
    Case("subdomain", _jobset(network={"subdomain": "net"})),
    Case(
        "wrong subdomain",
        _jobset(network={"subdomain": "a.b"}),
        ('spec.network.subdomain: Invalid value: "a.b"',),
    ),
    Case("manager", _jobset(managedBy="acme.io/foo")),
    *(
        Case(f"manager {manager}", _jobset(managedBy=manager), ("spec.managedBy: Invalid value",))
        for manager in (
            "acme",
            "acme.io/",
            "/foo",
            "acme_io/foo",
            "acme.io/a b",
            "a.io/" + "x" * 59,
        )
    ),
    Case("success policy", _jobset(successPolicy={"targetReplicatedJobs": ["node"]})),
    Case(
        "success policy for no job",
        _jobset(successPolicy={"targetReplicatedJobs": ["node", "z"]}),
        ('spec.successPolicy.targetReplicatedJobs[1]: Unsupported value: "z": supported values:',),
    ),
    Case(
        "failure policy",
        _jobset(
            failurePolicy=_rules(
                {"onJobFailureReasons": ["BackoffLimitExceeded"], "targetReplicatedJobs": ["node"]},
                {"name": "a_,:1"},
            )
        ),
    ),
    Case(
        "failure policy, all wrong",
        _jobset(
            failurePolicy=_rules(
                {"name": "1"},
                {"name": "x" * 129},
                {"name": "r", "onJobFailureReasons": ["Boredom"], "targetReplicatedJobs": ["z"]},
                {"name": "r"},
            )
        ),
        (
            'spec.failurePolicy.rules[0].name: Invalid value: "1": must be at most 128',
            "spec.failurePolicy.rules[1].name: Invalid value",
            "spec.failurePolicy.rules[2].onJobFailureReasons[0]: Unsupported value",
            'spec.failurePolicy.rules[2].targetReplicatedJobs[0]: Unsupported value: "z"',
            'spec.failurePolicy.rules[3].name: Duplicate value: "r"',
        ),
    ),
    Case("jobs restarted alone", _jobset(_job(replicas=1024), failurePolicy=RESTART_JOB)),
    Case(
        "too many jobs restarted alone",
        _jobset(_job(replicas=1025), failurePolicy=RESTART_JOB),
        ("spec.replicatedJobs[0].replicas: Invalid value: 1025: must be at most 1024 where",),
    ),
    Case(
        "restart in place",
        _jobset(
            _job(
                job={
                    "backoffLimit": MAX_INT32,
                    "podReplacementPolicy": "Failed",
                    "completions": 2,
                    "parallelism": 2,
                }
            ),
            failurePolicy=IN_PLACE,
        ),
    ),
    Case(
        "restart in place, all wrong",
        _jobset(_job(job={"completions": 2}), failurePolicy=IN_PLACE),
        (
            "spec.replicatedJobs[0].template.spec.backoffLimit: Invalid value: null: must be 2147",
            "spec.replicatedJobs[0].template.spec.podReplacementPolicy: Invalid value: null: must",
            "spec.replicatedJobs[0].template.spec.completions: Invalid value: 2: must be set",
        ),
    ),
    Case(
        "coordinator",
        _jobset(
            _job(replicas=2, job={"completions": 3}),
            coordinator={"replicatedJob": "node", "jobIndex": 1, "podIndex": 2},
        ),
    ),
    Case(
        "coordinator of no job",
        _jobset(coordinator={"replicatedJob": "z"}),
        ('spec.coordinator.replicatedJob: Unsupported value: "z"',),
    ),
    Case(
        "coordinator without completions",
        _jobset(coordinator={"replicatedJob": "node", "jobIndex": 1}),
        (
            "spec.coordinator.jobIndex: Invalid value: 1: must be an index of job node: 0 to 0",
            'spec.coordinator.replicatedJob: Invalid value: "node": must be a job with',
        ),
    ),
    Case(
        "coordinator beyond the pods",
        _jobset(_job(job={"completions": 3}), coordinator={"replicatedJob": "node", "podIndex": 3}),
        ("spec.coordinator.podIndex: Invalid value: 3: must be an index of its pods: 0 to 2",),
    ),
    Case(
        "coordinator with a long address",
        _jobset(_job(job={"completions": 1}), name="x" * 30, coordinator={"replicatedJob": "node"}),
        ("spec.coordinator: Invalid value",),
    ),
    Case(
        "no quantity",
        _jobset(_job(pod={"overhead": {"cpu": "1e1.5"}})),
        ("spec.replicatedJobs[0].template.spec.template.spec.overhead.cpu: Invalid value",),
    ),
    Case(
        "claims",
        _jobset(
            _job(pod=_mounting("c.1")),
            _job("b", pod={"initContainers": _mounting("c2")["containers"]}),
            volumeClaimPolicies=_claims("c.1", "c2"),
        ),
    ),
    Case(
        "claims, all wrong",
        _jobset(
            _job(pod={**_mounting("c", "C", "y" * 62), "volumes": [{"name": "c"}]}),
            volumeClaimPolicies=[*_claims("c", "C"), *_claims("c", "unused", "y" * 62)],
        ),
        (
            "spec.replicatedJobs[0].template.spec.template.spec.volumes[0].name: Invalid value",
            'spec.volumeClaimPolicies[0].templates[1].metadata.name: Invalid value: "C"',
            'spec.volumeClaimPolicies[1].templates[0].metadata.name: Duplicate value: "c"',
            'spec.volumeClaimPolicies[1].templates[1].metadata.name: Invalid value: "unused": no',
            "spec.volumeClaimPolicies[1].templates[2].metadata.name: Invalid value",
        ),
    ),
]


@pytest.mark.parametrize("case", CREATE, ids=lambda case: case.name)
def test_creation(case: Case) -> None:
    jobset = with_webhook_defaults(case.jobset)
    before = copy.deepcopy(jobset)
    errors = [str(error) for error in validate_create(jobset)]
    assert jobset == before
    assert len(errors) == len(case.errors), errors
    for error, expected in zip(errors, case.errors, strict=True):
        assert error.startswith(expected)


@dataclass(frozen=True)
class Update:
    name: str
    old: Json
    new: Json
    fields: tuple[str, ...] = ()


KUEUE = {
    "nodeSelector": {"a": "b"},
    "tolerations": [{"key": "t"}],
    "schedulingGates": [{"name": "g"}],
}


def _labelled() -> Json:
    job = _job(pod=KUEUE)
    job["template"]["spec"]["template"]["metadata"] = {"labels": {"l": "1"}, "annotations": {}}
    return job


@pytest.mark.parametrize(
    "case",
    [
        Update("nothing", _jobset(), _jobset()),
        Update("defaults made explicit", _jobset(), with_webhook_defaults(_jobset(suspend=False))),
        Update("what is empty counts as absent", _jobset(), _jobset(_job(pod={"volumes": []}))),
        Update("suspend", _jobset(), _jobset(suspend=True)),
        Update("ttl", _jobset(), _jobset(ttlSecondsAfterFinished=5)),
        Update(
            "image", _jobset(), _jobset(_job(pod={"hostname": "h"})), ("spec.replicatedJobs[0]",)
        ),
        Update("replicas", _jobset(), _jobset(_job(replicas=2)), ("spec.replicatedJobs[0]",)),
        Update("Kueue while running", _jobset(), _jobset(_labelled()), ("spec.replicatedJobs[0]",)),
        Update("Kueue on suspending", _jobset(), _jobset(_labelled(), suspend=True)),
        Update("Kueue on resuming", _jobset(suspend=True), _jobset(_labelled())),
        Update(
            "other pod fields while suspended",
            _jobset(suspend=True),
            _jobset(_job(pod={"hostname": "h"}), suspend=True),
            ("spec.replicatedJobs[0]",),
        ),
        Update("a job more", _jobset(), _jobset(_job(), _job("b")), ("spec.replicatedJobs",)),
        Update(
            "another order",
            _jobset(_job("a"), _job("b")),
            _jobset(_job("b"), _job("a")),
            ("spec.replicatedJobs",),
        ),
        Update(
            "several",
            _jobset(_job("a"), _job("b"), managedBy="a.io/b"),
            _jobset(_job("a"), _job("b", replicas=3)),
            ("spec.managedBy", "spec.replicatedJobs[1]"),
        ),
    ],
    ids=lambda case: case.name,
)
def test_updates(case: Update) -> None:
    before = copy.deepcopy((case.old, case.new))
    errors = validate_update(case.old, case.new)
    assert [error.field for error in errors] == list(case.fields)
    assert (case.old, case.new) == before
