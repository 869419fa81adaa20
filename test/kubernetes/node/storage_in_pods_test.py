"""The storage of tasks in real pods: copies of buckets, and claims that volumes make."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster.access import Access
from cluster.node import NodeCluster
from cluster.processes import wait_until
from cluster.unavailable import UnavailableError
from installation import Installation, installed
from s3_server import SECRET, S3Server, running

from trainway.json_types import Json

PATIENCE_S = 180.0


@pytest.fixture(scope="module")
def bucket(node_cluster: Access, tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """An S3 that pods reach."""
    if not isinstance(node_cluster, NodeCluster):
        raise UnavailableError("pods of an existing cluster cannot reach this test")
    with running(tmp_path_factory.mktemp("s3"), node_cluster.network.address) as server:
        yield server


@pytest.fixture(scope="module")
def home(
    node_cluster: Access, bucket: S3Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installation]:
    variables = {"KUBECONFIG": str(node_cluster.kubeconfig), **bucket.variables()}
    with installed(tmp_path_factory.mktemp("home"), variables) as installation:
        yield installation


def filled(server: S3Server, name: str) -> Path:
    """A new bucket with a folder and a file."""
    folder = server.bucket(name)
    (folder / "data" / "deep").mkdir(parents=True)
    (folder / "data" / "one.txt").write_text("one\n")
    (folder / "data" / "deep" / "two.txt").write_text("two\n")
    return folder


def said(printed: str) -> list[str]:
    """What the task itself has printed."""
    lines = [line.partition(" | ")[2] for line in printed.splitlines()]
    return [text for text in lines if not text.startswith("storage: ")]


def test_copies_are_made_without_privileges(
    home: Installation,
    node_cluster: Access,
    on: str,
    host_namespace: str,
    bucket: S3Server,
    tmp_path: Path,
) -> None:
    filled(bucket, "copied")
    task = tmp_path / "copies.yaml"
    task.write_text(
        "file_mounts:\n  /tmp/folder: s3://copied/data\n  /tmp/one: s3://copied/data/one.txt\n"
        "  ~/below: {source: s3://copied/data, mode: COPY}\n"
        "run: cat /tmp/folder/deep/two.txt /tmp/one ~/below/one.txt; env | grep -c RCLONE_ || true"
    )

    printed = home.run("run", str(task), "--on", on)

    assert said(printed) == ["two", "one", "one", "0"], printed
    (pod,) = node_cluster.get("pods", "-n", host_namespace)["items"]
    (step,) = pod["spec"]["initContainers"]
    assert step["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }
    assert SECRET not in printed + home.run("jobs", "show", "copies", "-o", "yaml")


MOUNTS = """\
config: {kubernetes: {pod_config: {spec: {securityContext: {runAsUser: 1000}}}}}
file_mounts:
  /tmp/read: {source: s3://mounted/data, config: {mount: {read_only: true}}}
  ~/written: {source: s3://mounted, mode: MOUNT_CACHED}
run: |
  cat /tmp/read/one.txt ~/written/data/deep/two.txt
  head -c 3000000 /dev/zero > ~/written/zeros
  echo more > /tmp/read/more || echo read-only
  env | grep -c RCLONE_ || true
  id -u
"""


def test_buckets_are_mounted_by_a_container_beside_the_task(
    home: Installation, on: str, bucket: S3Server, tmp_path: Path
) -> None:
    folder = filled(bucket, "mounted")
    task = tmp_path / "mounts.yaml"
    task.write_text(MOUNTS)

    printed = home.run("run", str(task), "--on", on)

    lines = [line for line in said(printed) if "/tmp/read/more" not in line]
    assert lines == ["one", "two", "read-only", "0", "1000"], printed
    assert (folder / "zeros").stat().st_size == 3_000_000
    task.write_text("file_mounts: {/tmp/x: {source: s3://there-is-none}}\nrun: echo begun")
    refused = home.run("run", str(task), "--name", "none", "--on", on, code=4)
    assert "storage: s3://there-is-none cannot be read: " in refused
    assert "begun" not in refused


def test_a_namespace_that_allows_no_privileges_is_told_at_once(
    home: Installation, node_cluster: Access, on: str, host_namespace: str, tmp_path: Path
) -> None:
    label = "pod-security.kubernetes.io/enforce=baseline"
    node_cluster.kubectl("label", "namespace", host_namespace, label)
    task = tmp_path / "refused.yaml"
    task.write_text("file_mounts: {/tmp/x: {source: s3://any}}\nrun: x")
    done = home.start("run", str(task), "--on", on)
    said, _ = done.communicate(timeout=PATIENCE_S)
    assert done.returncode == 1, said
    assert f"namespace {host_namespace} enforces the Pod Security Standard baseline" in said


def test_a_claim_is_made_for_a_volume_and_removed_with_it(
    home: Installation, node_cluster: Access, on: str, host_namespace: str, tmp_path: Path
) -> None:
    task = tmp_path / "keeps.yaml"
    task.write_text("volumes: {/mnt/kept: kept}\nrun: echo kept > /mnt/kept/file\n")
    make = ("volumes", "apply", "-n", "kept", "--type", "k8s-pvc", "--infra", on, "--size", "1Gi")
    with tempfile.TemporaryDirectory(prefix="trainway-disk-") as folder:
        node_cluster.apply(disk(host_namespace, "kept", folder))
        try:
            home.run(*make)
            home.run(*make)  # it is there, and that is right
            home.run("run", str(task), "--on", on)
            assert Path(folder, "file").read_text() == "kept\n"
            home.run("jobs", "delete", "keeps")
            home.run("volumes", "delete", "-y", "kept")
        finally:
            node_cluster.kubectl("delete", "pv", host_namespace, "--wait=false")

    def is_gone() -> bool:
        return node_cluster.find("persistentvolumeclaims", "kept", host_namespace) is None

    assert wait_until(is_gone, PATIENCE_S)


def test_a_claim_of_somebody_else_is_left_alone(
    home: Installation, node_cluster: Access, on: str, host_namespace: str
) -> None:
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    metadata = {"name": "theirs", "namespace": host_namespace}
    kind = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
    node_cluster.apply({**kind, "metadata": metadata, "spec": claim})
    words = ("volumes", "apply", "-n", "theirs", "--type", "k8s-pvc", "--infra", on)

    home.run(*words, "--size", "1Gi", code=1)
    assert home.json("volumes", "ls")["items"] == []
    home.run(*words, "--use-existing")
    home.run("volumes", "delete", "-y", "theirs")

    assert node_cluster.find("persistentvolumeclaims", "theirs", host_namespace) is not None


def disk(namespace: str, claim: str, folder: str) -> Json:
    """A folder of the node for a claim of that name."""
    spec = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "persistentVolumeReclaimPolicy": "Retain",
        "hostPath": {"path": folder},
        "claimRef": {"namespace": namespace, "name": claim},
    }
    metadata = {"name": namespace}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": spec}
