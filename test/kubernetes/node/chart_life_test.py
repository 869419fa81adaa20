"""The chart on a cluster: installed, upgraded, its leader killed, removed, while jobs run.

And what docs/migrating.md says of Kubeflow Trainer: its objects are taken over, its jobs run on.
"""

import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from chart_release import PATIENCE_S, PREVIOUS, Release, release_cluster
from cluster.access import KubectlError
from cluster.fixtures import ON_EXISTING
from cluster.helm import NAMESPACE
from cluster.images import BUSYBOX
from cluster.processes import wait_until
from node_operator import shell_runtime, trainjob
from upstream_crds import TRAINER, module_folder

from trainway import __version__
from trainway.json_types import Json
from trainway.operator import manifests
from trainway.operator.install import label
from trainway.runtimes import names

PAUSE_S = 0.1
SPACE = "default"
UPSTREAM_SPACE = "upstream"
PARTS = ("crds", "manager", "rbac", "webhook")
CLUSTER_KINDS = (
    "clusterroles,clusterrolebindings,validatingwebhookconfigurations,mutatingwebhookconfigurations,"
    "customresourcedefinitions,namespaces,priorityclasses"
)
OWN_KINDS = (
    "all,configmaps,secrets,serviceaccounts,roles,rolebindings,leases,poddisruptionbudgets,"
    "networkpolicies"
)
COMMAND = ["sh", "-c", "until [ -e /tmp/go ]; do sleep 0.1; done"]
WAITING = {"numNodes": 2, "command": COMMAND}
BRIEF = {"numNodes": 1, "command": ["true"]}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Release]:
    if ON_EXISTING:
        pytest.skip("the chart is installed once for a whole cluster")
    with release_cluster(tmp_path_factory.mktemp("chart")) as found:
        yield found


def everything(release: Release) -> set[str]:
    """All that an installation could leave."""
    found = release.cluster.kubectl("get", CLUSTER_KINDS, "-o", "name").stdout.split()
    own = release.cluster.kubectl("get", OWN_KINDS, "-n", NAMESPACE, "-o", "name").stdout.split()
    return {*found, *(f"{NAMESPACE}: {name}" for name in own)}


def job_pods(release: Release, name: str) -> list[Json]:
    selector = f"jobset.sigs.k8s.io/jobset-name={name}"
    items: list[Json] = release.cluster.get("pods", "-n", SPACE, "-l", selector)["items"]
    return items


def uids(pods: list[Json]) -> set[tuple[str, str]]:
    return {(pod["metadata"]["uid"], pod["status"]["phase"]) for pod in pods}


@contextmanager
def asking(release: Release) -> Iterator[list[str]]:
    """Ask the webhooks ten times a second whether a TrainJob may be made; what was refused."""
    asked = trainjob("asked", "shell", BRIEF, suspend=True)
    refused: list[str] = []
    answers, over = threading.Semaphore(0), threading.Event()

    def ask() -> None:
        while not over.wait(PAUSE_S):
            try:
                release.cluster.rehearse(asked, SPACE)
            except KubectlError as error:
                refused.append(str(error))
            answers.release()

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        assert answers.acquire(timeout=PATIENCE_S)
        yield refused
    finally:
        over.set()
        thread.join()


def test_jobs_run_on_through_upgrade_crash_and_removal(release: Release) -> None:
    kubectl = release.cluster.kubectl
    kubectl("create", "namespace", NAMESPACE)
    before = everything(release)

    # The version before, with one replica.
    release.install("replicaCount=1", chart=release.helm.package(PREVIOUS))
    first = release.wait_leader()
    runtimes = release.cluster.get("clustertrainingruntimes")["items"]
    assert {item["metadata"]["name"] for item in runtimes} == set(names())
    release.create(SPACE, shell_runtime("shell"), trainjob("long", "shell", WAITING))
    release.wait(SPACE, lambda: len(uids(job_pods(release, "long"))) == 2, "two pods")
    release.wait_running(SPACE, 2)
    running = uids(job_pods(release, "long"))
    with pytest.raises(KubectlError, match="denied the request: "):
        release.create(SPACE, trainjob("bad", "no-such-runtime", BRIEF))

    # This version takes over, with two; whoever makes a job meanwhile is answered.
    with asking(release) as refused:
        release.upgrade()
    assert refused == []
    images = [f"trainway/operator:{__version__}"] * 2
    assert wait_until(lambda: images_of(release) == images, PATIENCE_S), images_of(release)
    second = release.wait_leader(other_than=first)
    assert uids(job_pods(release, "long")) == running
    for item in release.cluster.get("customresourcedefinitions", "-l", "helm.sh/chart")["items"]:
        assert item["metadata"]["labels"]["helm.sh/chart"] == f"trainway-{__version__}"

    # The leader crashes.
    kubectl("delete", "pod", second, "-n", NAMESPACE, "--force", "--grace-period=0")
    release.wait_leader(other_than=second)
    release.create(SPACE, trainjob("brief", "shell", BRIEF))
    release.wait_condition("trainjob", SPACE, "brief", "Complete")
    assert wait_until(lambda: len(release.operator_pods()) == 2, PATIENCE_S)

    # Everything goes but what belongs to people; JobSets run on without an operator.
    release.uninstall()
    assert wait_until(lambda: not manager_pods(release), PATIENCE_S)
    kept = {label(crd) for crd in manifests.crds()}
    assert wait_until(lambda: everything(release) - before == kept, PATIENCE_S), (
        everything(release) - before
    )
    assert len(release.cluster.get("clustertrainingruntimes")["items"]) == len(names())
    assert uids(job_pods(release, "long")) == running

    # And it can come back: the job is where it was, and ends.
    release.install("replicaCount=1")
    assert uids(job_pods(release, "long")) == running
    for pod in job_pods(release, "long"):
        release.cluster.open_gate(pod, "/tmp/go")
    release.wait_condition("trainjob", SPACE, "long", "Complete")


def images_of(release: Release) -> list[str]:
    """Of the operator's pods; one of the version before may stay a moment longer."""
    return [str(pod["spec"]["containers"][0]["image"]) for pod in release.operator_pods()]


def manager_pods(release: Release) -> list[Json]:
    items: list[Json] = release.cluster.get("pods", "-n", NAMESPACE)["items"]
    return items


# Coming from Kubeflow Trainer


def upstream_manifests(folder: Path) -> Path:
    """A kustomization of Kubeflow Trainer without JobSet, which the cluster has."""
    source = module_folder(TRAINER) / "manifests"
    target = folder / "upstream"
    for part in PARTS:
        copied = shutil.copytree(source / "base" / part, target / part)
        for path in (copied, *copied.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
    overlay = yaml.safe_load((source / "overlays/manager/kustomization.yaml").read_text())
    overlay["resources"] = list(PARTS)
    (target / "kustomization.yaml").write_text(yaml.safe_dump(overlay))
    return target


def jobset_of(job: Json) -> Json:
    """A JobSet as Kubeflow Trainer makes it for a TrainJob."""
    metadata = job["metadata"]
    owner = {
        "apiVersion": job["apiVersion"],
        "kind": job["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    container = {"name": "node", "image": BUSYBOX, "command": COMMAND}
    pod = {"restartPolicy": "Never", "containers": [container]}
    nodes = {"parallelism": 2, "completions": 2, "backoffLimit": 0, "template": {"spec": pod}}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": metadata["name"], "ownerReferences": [owner]},
        "spec": {"replicatedJobs": [{"name": "node", "template": {"spec": nodes}}]},
    }


def has_status(release: Release, name: str) -> bool:
    job = release.job("trainjob", UPSTREAM_SPACE, name) or {}
    return bool(job.get("status", {}).get("jobsStatus"))


def test_jobs_of_kubeflow_trainer_run_on_under_trainway(release: Release, tmp_path: Path) -> None:
    kubectl, space = release.cluster.kubectl, UPSTREAM_SPACE
    release.clear()
    kubectl("create", "namespace", space)
    kubectl("create", "namespace", NAMESPACE)
    release.cluster.install_crds(upstream_manifests(tmp_path) / "crds")
    # A job from the time of Kubeflow Trainer, before its webhooks have nobody to ask.
    release.create(space, shell_runtime("shell"))
    release.create(space, trainjob("old", "shell", WAITING))
    old = release.job("trainjob", space, "old")
    assert old is not None
    text = json.dumps(jobset_of(old))
    flags = ("--server-side", "--field-manager=trainer", "-n", space, "-f", "-")
    kubectl("apply", *flags, input=text)
    kubectl("apply", "--server-side", "-k", str(tmp_path / "upstream"))
    running = {pod["metadata"]["uid"] for pod in release.wait_running(space, 2)}

    # Steps 2 and 4 of the page.
    name = manifests.NAME
    kubectl("scale", "deployment", name, "-n", NAMESPACE, "--replicas=0")
    selector = "app.kubernetes.io/component=manager"
    ended = ("--for=delete", f"--timeout={PATIENCE_S:g}s")
    kubectl("wait", "pod", "-n", NAMESPACE, "-l", selector, *ended)
    release.install("replicaCount=1", flags=("--take-ownership",))

    release.wait(space, lambda: has_status(release, "old"), "our operator has looked")
    assert {pod["metadata"]["uid"] for pod in release.wait_running(space, 2)} == running
    for pod in release.pods(space):
        release.cluster.open_gate(pod, "/tmp/go")
    release.wait_condition("trainjob", space, "old", "Complete")
    jobset = release.cluster.get("jobset", "old", "-n", space)
    assert jobset["metadata"]["generation"] == 1
    assert jobset["metadata"]["ownerReferences"][0]["uid"] == old["metadata"]["uid"]
    # New ones are checked and run by us.
    release.create(space, trainjob("new", "shell", {"numNodes": 1, "command": ["true"]}))
    release.wait_condition("trainjob", space, "new", "Complete")
