from typing import Any

import pytest

from trainway.compiler.keys import FixedKeys
from trainway.compiler.mpijob_gang import GangScheduling
from trainway.jobset.mpijob_status import MPIJobFacts
from trainway.json_types import Json
from trainway.operator.mpijobs.testing import mpijob, stored
from trainway.operator.mpijobs.wanted import (
    CompileContext,
    Wanted,
    digest,
    facts_of,
    gpus_of,
    is_ours,
    parse,
    replaces_restart_policy,
    wanted,
)


def want(obj: Json, running: set[int], **around: Any) -> Wanted:
    job, errors = parse(stored(obj))
    assert job is not None, errors
    return wanted(job, CompileContext(FixedKeys(), **around), running)


@pytest.mark.parametrize(
    ("manager", "ours"),
    [
        ("", True),
        ("kubeflow.org/mpi-operator", True),
        ("kueue.x-k8s.io/multikueue", False),
        ("somebody", False),
    ],
)
def test_who_manages_a_job(manager: str, ours: bool) -> None:
    assert is_ours(mpijob(run_policy={"managedBy": manager} if manager else None)) is ours


def test_a_job_gets_its_defaults_and_loses_its_status() -> None:
    job, _ = parse(stored(mpijob()) | {"status": {"unknown": 1}})
    assert job is not None
    assert job.spec.run_policy.clean_pod_policy == "None"
    assert facts_of(job) == MPIJobFacts("ns", "pi", workers=2)


def test_without_workers() -> None:
    job, _ = parse(mpijob(workers=0, run_policy={"suspend": True}))
    assert job is not None
    assert facts_of(job) == MPIJobFacts("ns", "pi", workers=0, suspend=True)


@pytest.mark.parametrize(
    ("obj", "field"),
    [
        (mpijob(mpiImplementation="PVM"), "spec.mpiImplementation"),
        (mpijob(slotsPerWorker=-1), "spec.slotsPerWorker"),
        (mpijob("x" * 60), "metadata.name"),
    ],
    ids=["schema", "rule", "name"],
)
def test_what_came_past_the_webhook_is_refused(obj: Json, field: str) -> None:
    job, errors = parse(obj)
    assert job is None
    assert [str(error).partition(":")[0] for error in errors] == [field]


def annotated(packages: str) -> Json:
    obj = mpijob()
    obj["metadata"]["annotations"] = {"trainway.dev/packages": packages}
    return obj


def test_packages_of_an_annotation_are_installed_by_launcher_and_workers_first() -> None:
    roles = want(annotated("six"), set()).jobset["spec"]["replicatedJobs"]
    pods = {role["name"]: role["template"]["spec"]["template"]["spec"] for role in roles}
    assert set(pods) == {"launcher", "worker"}
    for pod in pods.values():
        assert [each["name"] for each in pod["initContainers"]] == ["trainway-environment"]
        assert pod["initContainers"][0]["command"][-1] == "six"
        variables = {each["name"]: each.get("value") for each in pod["containers"][0]["env"]}
        assert variables["PYTHONPATH"] == "/trainway-packages"
    command = pods["worker"]["containers"][0]["command"]
    assert command == ["/usr/sbin/sshd", "-De", "-oSetEnv=PYTHONPATH=/trainway-packages"]


def test_packages_that_no_pod_can_install_are_refused() -> None:
    job, errors = parse(annotated("-r wanted.txt"))
    assert job is None
    assert "-r names files, which hosts do not have" in str(errors[0])


def test_the_script_knows_who_runs_and_the_hostfile_all() -> None:
    data = want(mpijob(workers=12, runLauncherAsWorker=True), {2, 10}).config_map["data"]
    assert data["discover_hosts.sh"].splitlines() == [
        "#!/bin/sh",
        "echo pi-launcher-0-0.pi.ns.svc",
        "echo pi-worker-0-10.pi.ns.svc",
        "echo pi-worker-0-2.pi.ns.svc",
    ]
    assert len(data["hostfile"].splitlines()) == 13


def test_the_jobset_has_no_ttl_of_its_own() -> None:
    made = want(mpijob(run_policy={"ttlSecondsAfterFinished": 0}), set())
    assert "ttlSecondsAfterFinished" not in made.jobset["spec"]
    assert made.secret["type"] == "kubernetes.io/ssh-auth"
    assert made.pod_group is None


def test_a_cluster_has_its_domain() -> None:
    made = want(mpijob(), {0}, cluster_domain="example.org")
    assert (
        "echo pi-worker-0-0.pi.ns.svc.example.org" in made.config_map["data"]["discover_hosts.sh"]
    )


@pytest.mark.parametrize("suspend", [True, False])
def test_only_a_job_that_runs_has_a_gang(suspend: bool) -> None:
    made = want(mpijob(run_policy={"suspend": suspend}), set(), gang=GangScheduling("volcano"))
    assert (made.pod_group is None) is suspend


def test_gpus_are_those_of_all_pods() -> None:
    obj = mpijob(workers=3)
    worker = obj["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]
    worker["resources"] = {"limits": {"nvidia.com/gpu": "2"}}
    job, _ = parse(obj)
    assert job is not None
    assert gpus_of(job) == 6


@pytest.mark.parametrize("given", [True, False])
def test_a_restart_policy_of_the_template_is_noticed(given: bool) -> None:
    obj = mpijob()
    if given:
        obj["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["restartPolicy"] = "Always"
    job, _ = parse(obj)
    assert job is not None
    assert replaces_restart_policy(job) is given


def test_a_digest_knows_no_order() -> None:
    assert digest({"a": 1, "b": [1]}) == digest({"b": [1], "a": 1}) != digest({"a": 1, "b": [2]})
