"""The operator has the rights that it uses, and no others: its roles against the audit log.

Everything the operator does is made to happen once, with the chart installed and all its features
on, then each verb on each resource of its roles must have been asked for, and nothing else.
"""

import base64
import http.client
import json
import ssl
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import audit_log
import pytest
from audit_log import Request, Right
from chart_release import Release, release_cluster
from cluster.access import Access, KubectlError
from cluster.fixtures import ON_EXISTING
from cluster.helm import NAMESPACE
from cluster.images import BUSYBOX
from cluster.processes import wait_until
from node_operator import shell_runtime, trainjob
from upstream_crds import permissive_crd

from trainway.json_types import Json
from trainway.kube.certificates import CA_CERTIFICATE
from trainway.kube.resources import (
    COSCHEDULING_POD_GROUPS,
    MPIJOBS,
    OPTIMIZATION_JOBS,
    TRAINJOBS,
    VOLCANO_POD_GROUPS,
)
from trainway.operator import manifests
from trainway.operator.runtimes import FINALIZER
from trainway.operator.tokens import audience

SPACE: Final = "jobs"
PATIENCE_S: Final = 180.0
ACCOUNT: Final = f"system:serviceaccount:{NAMESPACE}:{manifests.NAME}"
PLUGINS: Final = "NodeRestriction,OwnerReferencesPermissionEnforcement"
TTL: Final = "trainway.dev/ttl-seconds-after-finished"
FOREVER: Final = ["sleep", "600"]
BRIEF: Final = {"numNodes": 1, "command": ["true"]}
LONG: Final = {"numNodes": 1, "command": FOREVER}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("permissions")


@pytest.fixture(scope="module")
def release(folder: Path) -> Iterator[Release]:
    if ON_EXISTING:
        pytest.skip("an existing cluster has the audit log that it has")
    flags = [*audit_log.flags(folder, [ACCOUNT]), f"--enable-admission-plugins={PLUGINS}"]
    with release_cluster(folder, flags) as found:
        found.cluster.create_namespace(SPACE)
        found.cluster.apply(*map(permissive_crd, (COSCHEDULING_POD_GROUPS, VOLCANO_POD_GROUPS)))
        yield found


def test_the_operator_uses_all_its_rights_and_needs_no_others(
    release: Release, folder: Path
) -> None:
    # The name of the default scheduler: gangs get a PodGroup, and their pods start all the same.
    release.install(*FEATURES, "gangScheduling=default-scheduler")
    cluster = release.cluster
    assert wait_until(lambda: knows_owners(cluster), PATIENCE_S)
    release.create(SPACE, *surroundings())
    release.create(SPACE, *train_jobs(), *mpi_jobs(), search())
    change_jobs(release)
    report_progress(release)
    read_metrics(release)
    cluster.kubectl("delete", "lease", manifests.LEASE, "-n", NAMESPACE)
    granted = rights_of_operator(cluster)
    volcano = {right for right in granted if right.group == VOLCANO_POD_GROUPS.group}
    wait_for_use(folder, cluster, granted - volcano)

    release.upgrade(*FEATURES, "gangScheduling=volcano", "replicaCount=1")
    release.create(SPACE, mpijob("volcanic", launcher=FOREVER, worker=FOREVER))
    group = ("podgroups.scheduling.volcano.sh", "volcanic")
    assert wait_until(lambda: exists(cluster, *group), PATIENCE_S), release.report(SPACE)
    patch(cluster, "mpijob", "volcanic", {"spec": {"runPolicy": {"suspend": True}}})
    wait_for_use(folder, cluster, granted)

    asked = requests(folder, cluster)
    assert audit_log.missing(granted, asked) == []
    assert [str(right) for right in audit_log.unused(granted, asked)] == []


def knows_owners(cluster: Access) -> bool:
    """Whether the plugin knows our kinds: it learns of new ones twice a minute.

    The operator is played, since the plugin lets an administrator do anything.
    """
    owners = [
        {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "name": "any",
            "uid": "any",
            "blockOwnerDeletion": True,
        }
        for kind in (TRAINJOBS, MPIJOBS, OPTIMIZATION_JOBS)
    ]
    metadata = {"name": "is-asked-about", "ownerReferences": owners}
    text = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
    arguments = ("create", "--dry-run=server", f"--as={ACCOUNT}", "-n", SPACE, "-f", "-")
    try:
        cluster.kubectl(*arguments, input=text)
    except KubectlError as error:
        if "cannot find RESTMapping" in str(error):
            return False
        raise
    return True


FEATURES: Final = (
    "config.featureGates.TrainJobStatus=true",
    "config.metrics.auth.enabled=true",
)


# What was granted and asked for


def rights_of_operator(cluster: Access) -> set[Right]:
    """Of all roles that are bound to its service account."""
    found = set[Right]()
    for kind in ("clusterrolebindings", "rolebindings"):
        for binding in cluster.get(kind, "-A")["items"]:
            subjects = [(s.get("namespace"), s["name"]) for s in binding.get("subjects", ())]
            if (NAMESPACE, manifests.NAME) in subjects:
                role, where = binding["roleRef"], binding["metadata"].get("namespace", "")
                place = ("-n", where) if where else ()
                rules = cluster.get(role["kind"], role["name"], *place)["rules"]
                found |= audit_log.rights(rules, where)
    return found


def requests(folder: Path, cluster: Access) -> set[Request]:
    lines = (folder / "audit.log").read_text().splitlines()
    return audit_log.requests(lines) | owned(cluster)


def owned(cluster: Access) -> set[Request]:
    """Whoever makes an object that blocks its owner's deletion must be allowed to finalize that.

    The API server has a plugin for it, which is on here and leaves no line in the log.
    """
    kinds = "jobsets,configmaps,secrets,trainjobs"
    references = [
        reference
        for obj in cluster.get(kinds, "-n", SPACE)["items"]
        for reference in obj["metadata"].get("ownerReferences", ())
        if reference.get("blockOwnerDeletion")
    ]
    return {
        Request("update", r["apiVersion"].partition("/")[0], f"{r['kind'].lower()}s/finalizers")
        for r in references
    }


def wait_for_use(folder: Path, cluster: Access, granted: set[Right]) -> None:
    """Wait until all of them were used; what never is, is told at the end of the test."""

    def are_used() -> bool:
        return not audit_log.unused(granted, requests(folder, cluster))

    wait_until(are_used, PATIENCE_S)


# What there is


def surroundings() -> list[Json]:
    """Runtimes, and objects that stand in the way of jobs."""
    old = shell_runtime("old")
    old["metadata"]["finalizers"] = [FINALIZER]
    cluster_wide = {**shell_runtime("old-for-all"), "kind": "ClusterTrainingRuntime"}
    cluster_wide["metadata"]["finalizers"] = [FINALIZER]
    gang, volcanic = shell_runtime("gang"), shell_runtime("volcanic")
    gang["spec"]["podGroupPolicy"] = {"coscheduling": {"scheduleTimeoutSeconds": 10}}
    volcanic["spec"]["podGroupPolicy"] = {"volcano": {}}
    pod_of(volcanic)["priorityClassName"] = "system-cluster-critical"
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "foreign-ssh"}}
    snapshot = {"apiVersion": "v1", "kind": "ConfigMap"}
    return [
        *(shell_runtime("shell"), old, cluster_wide, gang, volcanic),
        secret,
        {**snapshot, "metadata": {"name": "clashing-runtime-snapshot"}},
    ]


def pod_of(runtime: Json) -> Json:
    (job,) = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    pod: Json = job["template"]["spec"]["template"]["spec"]
    return pod


def train_jobs() -> list[Json]:
    """One for each thing that can happen to a TrainJob."""
    expiring = trainjob("expiring", "shell", BRIEF)
    expiring["metadata"]["annotations"] = {TTL: "0"}
    with_keys = trainjob("with-keys", "", {"numNodes": 2}, suspend=True)
    with_keys["spec"]["runtimeRef"] = {"name": "deepspeed-distributed"}
    return [
        expiring,
        with_keys,
        trainjob("late", "shell", LONG, activeDeadlineSeconds=10),
        trainjob("clashing", "shell", LONG),
        trainjob("edited", "shell", LONG, suspend=True),
        trainjob("vanishing", "shell", LONG),
        trainjob("gang", "gang", LONG, suspend=True),
        trainjob("volcanic-train", "volcanic", LONG, suspend=True),
    ]


def search() -> Json:
    """A search with one trial."""
    space = {"categorical": {"choices": ["1"]}}
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "OptimizationJob",
        "metadata": {"name": "search"},
        "spec": {
            "objectives": [{"metric": "loss"}],
            "parameters": [{"name": "lr", "searchSpace": space}],
            "trainJobTemplate": {"spec": trainjob("trial", "shell", BRIEF)["spec"]},
        },
    }


def mpi_jobs() -> list[Json]:
    """One for each thing that can happen to an MPIJob."""
    expiring = mpijob("expiring-mpi", launcher=["true"], worker=FOREVER)
    expiring["metadata"]["annotations"] = {TTL: "0"}
    return [
        expiring,
        mpijob("foreign", launcher=["true"], worker=FOREVER),
        mpijob("swept", launcher=["sleep", "3"], worker=["true"], cleanPodPolicy="All"),
        mpijob("growing", launcher=FOREVER, worker=FOREVER),
        mpijob("broken", launcher=FOREVER, worker=FOREVER),
    ]


def mpijob(name: str, *, launcher: list[str], worker: list[str], **policy: Any) -> Json:
    def role(command: list[str]) -> Json:
        container = {"name": "main", "image": BUSYBOX, "command": command}
        pod = {"containers": [container], "terminationGracePeriodSeconds": 1}
        return {"replicas": 1, "restartPolicy": "Never", "template": {"spec": pod}}

    return {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {"name": name},
        "spec": {
            "runPolicy": {"backoffLimit": 0, **policy},
            "mpiReplicaSpecs": {"Launcher": role(launcher), "Worker": role(worker)},
        },
    }


# What happens


def change_jobs(release: Release) -> None:
    """Edit, scale and break jobs that are there."""
    cluster = release.cluster
    for name in ("edited", "vanishing", "growing", "broken"):
        assert wait_until(partial(exists, cluster, "jobset", name), PATIENCE_S)
    pod = {"spec": {"nodeSelector": {"pool": "a"}}}
    jobs = [{"name": "node", "template": {"spec": {"template": pod}}}]
    change = {
        "manager": "test.example/me",
        "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": jobs}}},
    }
    patch(cluster, "trainjob", "edited", {"spec": {"runtimePatches": [change]}})
    running = "jobset.sigs.k8s.io/jobset-name=vanishing"
    ready = ("--for=condition=Ready", f"--timeout={PATIENCE_S:g}s")
    cluster.kubectl("wait", "pod", "-n", SPACE, "-l", running, *ready)
    assert wait_until(lambda: has_status(release, "vanishing"), PATIENCE_S)
    cluster.kubectl("delete", "jobset", "vanishing", "-n", SPACE, "--wait=false")
    worker = {"mpiReplicaSpecs": {"Worker": {"replicas": 2}}}
    patch(cluster, "mpijob", "growing", {"spec": worker})
    fail_jobset(cluster, "broken")


def fail_jobset(cluster: Access, name: str) -> None:
    """Say that a JobSet has failed although its launcher has not ended."""
    failed = {
        "type": "Failed",
        "status": "True",
        "reason": "FailedJobs",
        "message": "jobset failed",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    body = {"status": {"conditions": [failed], "terminalState": "Failed"}}
    patch(cluster, "jobset", name, body, "--subresource=status")


def has_status(release: Release, name: str) -> bool:
    job = release.job("trainjob", SPACE, name) or {}
    return bool(job.get("status", {}).get("jobsStatus"))


def report_progress(release: Release) -> None:
    """As the code of a training does, with a token for this job alone."""
    wanted = audience(SPACE, "edited")
    token = release.cluster.kubectl(
        "create", "token", "default", "-n", SPACE, f"--audience={wanted}"
    ).stdout.strip()
    body = {"trainerStatus": {"progressPercentage": 5, "lastUpdatedTime": "2026-01-01T00:00:00Z"}}
    assert ask(release, "POST", 10443, f"/apis/{wanted}", token, body) == 200


def read_metrics(release: Release) -> None:
    token = release.node.users["admin"].token
    assert ask(release, "GET", 8443, "/metrics", token) == 200
    assert ask(release, "GET", 8443, "/metrics", "nobody's") == 401


def ask(
    release: Release, method: str, port: int, path: str, token: str, body: Json | None = None
) -> int:
    """Ask a pod of the operator, whose certificate is for its Service."""
    address = release.operator_pods()[0]["status"]["podIP"]
    secret = release.cluster.get("secret", manifests.SECRET, "-n", NAMESPACE)
    authority = base64.b64decode(secret["data"][CA_CERTIFICATE]).decode()
    context = ssl.create_default_context(cadata=authority)
    context.check_hostname = False  # it is called by address
    connection = http.client.HTTPSConnection(address, port, timeout=PATIENCE_S, context=context)
    text = json.dumps(body) if body is not None else None
    try:
        connection.request(method, path, text, {"Authorization": f"Bearer {token}"})
        return connection.getresponse().status
    finally:
        connection.close()


def exists(cluster: Access, kind: str, name: str) -> bool:
    return cluster.find(kind, name, SPACE) is not None


def patch(cluster: Access, kind: str, name: str, body: Json, *flags: str) -> None:
    text = json.dumps(body)
    cluster.kubectl("patch", kind, name, "-n", SPACE, "--type=merge", "-p", text, *flags)
