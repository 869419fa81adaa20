"""Initializers in real pods: our images fetch a data set and a model, which all nodes then have."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest
import yaml
from cluster.access import Access
from cluster.identities import CONTEXT
from cluster.images import BUSYBOX
from cluster.node import NodeCluster
from cluster.operator_image import INITIALIZERS, load
from cluster.unavailable import UnavailableError
from initializer_job import FETCHED, MODEL, bucket_variables, filled, said, train_job, written
from installation import Installation, installed
from node_operator import INITIALIZER_IMAGES, NodeOperator, shell_runtime
from s3_server import S3Server, running

from trainway.data.hub_testing import PretendedHub, served
from trainway.json_types import Json

FORM: Final = "trainway.dev/kubernetes-form"


@pytest.fixture(scope="module")
def pods(node_cluster: Access) -> NodeCluster:
    """The cluster, whose node has our images."""
    if not isinstance(node_cluster, NodeCluster):
        raise UnavailableError("pods of an existing cluster cannot reach this test")
    load(node_cluster, INITIALIZERS, {image: step for step, image in INITIALIZER_IMAGES.items()})
    return node_cluster


@pytest.fixture(scope="module")
def bucket(pods: NodeCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """An S3 that pods reach."""
    with running(tmp_path_factory.mktemp("s3"), pods.network.address) as server:
        yield server


@pytest.fixture(scope="module")
def hub(pods: NodeCluster) -> Iterator[PretendedHub]:
    """The hub, as pods reach it."""
    with served(PretendedHub(MODEL), pods.network.address) as hub:
        yield hub


@pytest.fixture(scope="module")
def home(pods: NodeCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """A server whose config.yaml names our images."""
    folder = tmp_path_factory.mktemp("home")
    images = {step.removesuffix("-initializer"): name for step, name in INITIALIZER_IMAGES.items()}
    settings = {"kubernetes": {"initializer_images": images}}
    (folder / "config.yaml").write_text(yaml.safe_dump(settings))
    with installed(folder, {"KUBECONFIG": str(pods.kubeconfig)}) as installation:
        yield installation


@pytest.fixture
def disk(pods: NodeCluster, namespace: str) -> Iterator[str]:
    """What the claim of a job named `fetches` is bound to: a folder of the node."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="trainway-disk-"))
        reference = {"namespace": namespace, "name": "initializer-fetches"}
        spec = {
            "capacity": {"storage": "20Gi"},
            "accessModes": ["ReadWriteMany"],
            "persistentVolumeReclaimPolicy": "Retain",
            "hostPath": {"path": folder},
            "claimRef": reference,
        }
        metadata = {"name": namespace}
        pods.apply(
            {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": spec}
        )
        stack.callback(pods.kubectl, "delete", "pv", namespace, "--wait=false")
        yield folder


def job_of(bucket: S3Server, hub: PretendedHub, dataset: str) -> Json:
    """The job of all backends, with an image that a pod can have."""
    variables = {name: value for name, value in bucket_variables(bucket).items() if name != "PATH"}
    job = train_job("fetches", None, dataset, hub, variables)
    job["spec"]["trainer"]["image"] = BUSYBOX
    return job


def test_a_server_has_pods_fetch_what_all_nodes_then_have(
    home: Installation,
    namespace: str,
    disk: str,
    bucket: S3Server,
    hub: PretendedHub,
    tmp_path: Path,
) -> None:
    job = job_of(bucket, hub, filled(bucket, "by-server"))
    job["metadata"]["annotations"] = {FORM: "jobset"}

    printed = home.run("run", written(tmp_path, job), "--on", f"k8s/{CONTEXT}/{namespace}")

    for rank in range(2):
        assert said(printed, f"node-{rank}") == FETCHED, printed
    assert "dataset-initializer-0 | dataset: 1 file, " in printed
    assert Path(disk, "model", "config.json").read_bytes() == b"{}"


def test_a_role_that_nobody_gives_the_pod_is_refused_at_once(
    home: Installation,
    namespace: str,
    disk: str,
    bucket: S3Server,
    hub: PretendedHub,
    tmp_path: Path,
) -> None:
    job = job_of(bucket, hub, "s3://nobody/train")
    job["metadata"]["annotations"] = {FORM: "jobset"}
    role = {"name": "ROLE_ARN", "value": "arn:aws:iam::1:role/reader"}
    job["spec"]["initializer"]["dataset"]["env"].append(role)

    on = f"k8s/{CONTEXT}/{namespace}"
    printed = home.run("run", written(tmp_path, job), "--on", on, code=4)

    assert "ROLE_ARN is set, and there is no token of a service account" in printed
    assert not any(Path(disk).glob("dataset/*"))


def test_the_operator_names_the_same_images(
    node_operator: NodeOperator,
    namespace: str,
    disk: str,
    bucket: S3Server,
    hub: PretendedHub,
) -> None:
    job = job_of(bucket, hub, filled(bucket, "by-operator"))
    job["spec"]["runtimeRef"] = {"name": "shell", "kind": "TrainingRuntime"}

    node_operator.create(namespace, shell_runtime("shell"), job)
    node_operator.wait_condition("trainjob", namespace, "fetches", "Complete")

    printed = node_operator.log(namespace, "jobset.sigs.k8s.io/replicatedjob-name=node")
    lines = [line.strip() for line in printed.splitlines() if "./" in line]
    assert sorted(lines) == sorted(FETCHED * 2), printed
    assert sorted(path.name for path in Path(disk, "dataset", "part").iterdir()) == ["a.txt"]
