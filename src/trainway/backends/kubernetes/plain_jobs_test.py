import copy
from dataclasses import dataclass, field
from typing import Any

import pytest

from trainway.backends.kubernetes.plain_jobs import (
    jobs_of,
    losses,
    policy_of,
    service_of,
    unclaimed,
)
from trainway.json_types import Json


def role(name: str, replicas: int = 1, **more: Any) -> Json:
    template = {"spec": {"containers": [{"name": "main"}]}}
    spec = {"parallelism": 1, "completions": 1, "template": template}
    return {"name": name, "replicas": replicas, "template": {"spec": spec}, **more}


def jobset(*roles: Json, **spec: Any) -> Json:
    metadata = {"name": "demo", "namespace": "ml", **spec.pop("metadata", {})}
    return {"metadata": metadata, "spec": {"replicatedJobs": list(roles), **spec}}


def common(job: Json) -> dict[str, str]:
    labels: dict[str, str] = job["metadata"]["labels"]
    return {name.removeprefix("jobset.sigs.k8s.io/"): value for name, value in labels.items()}


def test_the_labels_are_those_of_jobset() -> None:
    roles = [role("launcher"), role("worker", 2, groupName="w"), role("eval", groupName="w")]
    jobs = jobs_of(jobset(*roles), "uid")
    names = [job["metadata"]["name"] for job in jobs]
    assert names == ["demo-launcher-0", "demo-worker-0", "demo-worker-1", "demo-eval-0"]
    assert common(jobs[2]) == {
        "jobset-name": "demo",
        "jobset-uid": "uid",
        "replicatedjob-name": "worker",
        "replicatedjob-replicas": "2",
        "global-replicas": "4",
        "restart-attempt": "0",
        "job-index": "1",
        "job-key": "c6de4e5dca03d7553e1c8b00445bf3ea644aea6d",
        "job-global-index": "2",
        "group-name": "w",
        "group-replicas": "3",
        "job-group-index": "1",
    }
    assert common(jobs[3])["job-group-index"] == "2"
    assert jobs[2]["metadata"]["annotations"] == jobs[2]["metadata"]["labels"]
    pod = jobs[2]["spec"]["template"]
    assert pod["metadata"]["labels"] == jobs[2]["metadata"]["labels"]
    assert pod["spec"]["subdomain"] == "demo"


def test_labels_of_its_author_stay() -> None:
    given = role("node")
    given["template"]["metadata"] = {"labels": {"a": "1"}, "annotations": {"b": "2"}}
    given["template"]["spec"]["template"]["metadata"] = {"labels": {"c": "3"}}
    before = copy.deepcopy(given)
    (job,) = jobs_of(jobset(given), "uid")
    assert job["metadata"]["labels"]["a"] == "1"
    assert job["metadata"]["annotations"]["b"] == "2"
    assert job["spec"]["template"]["metadata"]["labels"]["c"] == "3"
    assert given == before


def test_the_network_is_as_the_jobset_says() -> None:
    network = {"subdomain": "net", "publishNotReadyAddresses": False, "enableDNSHostnames": True}
    coordinator = {"replicatedJob": "node", "jobIndex": 0, "podIndex": 1}
    gang = jobset(role("node"), network=network, coordinator=coordinator)
    service = service_of(gang)
    assert service["metadata"] == {"name": "net", "namespace": "ml"}
    assert service["spec"] == {
        "clusterIP": "None",
        "selector": {"jobset.sigs.k8s.io/jobset-name": "demo"},
        "publishNotReadyAddresses": False,
    }
    (job,) = jobs_of(gang, "uid")
    assert job["spec"]["template"]["spec"]["subdomain"] == "net"
    assert common(job)["coordinator"] == "demo-node-0-1.net"
    (nameless,) = jobs_of(jobset(role("node"), network={"enableDNSHostnames": False}), "uid")
    assert "subdomain" not in nameless["spec"]["template"]["spec"]


@dataclass(frozen=True)
class Case:
    name: str
    jobset: Json
    held: list[bool]
    losses: list[str] = field(default_factory=list)


AFTER = [{"name": "a", "status": "Complete"}]
ORDER = "roles start in order (dependsOn, startupPolicy) only while a trainway server runs"
ALWAYS = "RestartJobSetAndIgnoreMaxRestarts"
RESTARTS = "a failed job is restarted (spec.failurePolicy) only while a trainway server runs"


@pytest.mark.parametrize(
    "case",
    [
        Case("plain", jobset(role("a"), role("b")), [False, False]),
        Case("suspended", jobset(role("a"), suspend=True), [True]),
        Case("depends", jobset(role("a"), role("b", dependsOn=AFTER)), [False, True], [ORDER]),
        Case(
            "in order",
            jobset(role("a"), role("b"), startupPolicy={"startupPolicyOrder": "InOrder"}),
            [False, True],
            [ORDER],
        ),
        Case("restarts", jobset(role("a"), failurePolicy={"maxRestarts": 1}), [False], [RESTARTS]),
        Case(
            "a rule that always restarts",
            jobset(role("a"), failurePolicy={"rules": [{"action": ALWAYS}]}),
            [False],
            [RESTARTS],
        ),
        Case(
            "a rule that may restart nothing",
            jobset(role("a"), failurePolicy={"rules": [{"action": "RestartJobSet"}]}),
            [False],
        ),
        Case(
            "a rule that fails",
            jobset(role("a"), failurePolicy={"rules": [{"action": "FailJobSet"}]}),
            [False],
        ),
        Case(
            "success",
            jobset(role("a"), successPolicy={"operator": "Any"}),
            [False],
            ["spec.successPolicy ends the other roles only while a trainway server runs"],
        ),
        Case("success of all", jobset(role("a"), successPolicy={"operator": "All"}), [False]),
        Case(
            "claims",
            jobset(role("a"), volumeClaimPolicies=[{}]),
            [False],
            ["spec.volumeClaimPolicies make no claims"],
        ),
        Case(
            "apart",
            jobset(
                role("a"),
                metadata={"annotations": {"alpha.jobset.sigs.k8s.io/exclusive-topology": "rack"}},
            ),
            [False],
            ["jobs are not kept apart: exclusive-topology does nothing"],
        ),
    ],
    ids=lambda case: case.name,
)
def test_what_waits_and_what_is_lost(case: Case) -> None:
    assert [job["spec"]["suspend"] for job in jobs_of(case.jobset, "uid")] == case.held
    expected = [f"without JobSet in the cluster {text}" for text in case.losses]
    assert losses(case.jobset) == expected


def test_a_volume_that_nobody_makes_is_named() -> None:
    policies = [{"templates": [{"metadata": {"name": "initializer"}}]}]
    gang = jobset(role("a"), role("b"), role("c"), volumeClaimPolicies=policies)
    for number in (0, 1):
        pod = gang["spec"]["replicatedJobs"][number]["template"]["spec"]["template"]["spec"]
        pod["containers"][0]["volumeMounts"] = [{"name": "initializer", "mountPath": "/workspace"}]
        pod["volumes"] = [{"name": "initializer", "emptyDir": {}}] * number
    (problem,) = unclaimed(gang)
    assert problem.startswith("role a mounts the volume initializer, which only JobSet makes")
    assert unclaimed(jobset(role("a"))) == []


def test_what_must_be_known_later_is_small() -> None:
    failing = {"action": "FailJobSet", "name": "r"}
    gang = jobset(
        role("a"),
        role("b", 2, dependsOn=AFTER),
        failurePolicy={"maxRestarts": 2, "rules": [failing, {"action": "RestartJobSet"}]},
        successPolicy={"operator": "Any"},
        startupPolicy={"startupPolicyOrder": "AnyOrder"},
    )
    assert policy_of(gang["spec"]) == {
        "roles": [
            {"name": "a", "replicas": 1, "dependsOn": []},
            {"name": "b", "replicas": 2, "dependsOn": AFTER},
        ],
        "inOrder": False,
        "successPolicy": {"operator": "Any"},
        "failurePolicy": gang["spec"]["failurePolicy"],
    }
