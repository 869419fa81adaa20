"""Buckets in pods with an image like rclone's own: a small shell, rclone and fusermount3.

The tests of storage_in_pods_test.py give all containers the programs of this machine. Here each has
its image alone: what copies and mounts has no bash and no tool of GNU, and the task no rclone.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster.access import Access
from cluster.identities import CONTEXT
from cluster.node import NodeCluster
from cluster.processes import wait_until
from cluster.program_images import load_programs
from cluster.unavailable import UnavailableError
from installation import Installation, installed
from s3_server import S3Server, running

from trainway.compiler.task_storage import IMAGE

PATIENCE_S = 180.0
TASK_IMAGE = "docker.io/trainway/bash:1"
TASK = f"""\
resources: {{image_id: "docker:{TASK_IMAGE}"}}
file_mounts:
  /copy: s3://real/data
  /read: {{source: s3://real/data, config: {{mount: {{read_only: true}}}}}}
  /written: {{source: s3://real, mode: MOUNT}}
  /cached: {{source: s3://real/later, mode: MOUNT_CACHED}}
run: |
  cat /copy/one.txt /read/deep/two.txt
  head -c 3000000 /dev/zero > /written/zeros
  mkdir -p /cached/below && echo cached > /cached/below/three.txt
  echo four > /written/four.txt && echo more >> /written/four.txt
  echo refused > /read/five.txt || echo read-only
  command -v rclone || echo no rclone
"""


@pytest.fixture(scope="module")
def bucket(node_cluster: Access, tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """An S3 that pods reach, with a folder of two files."""
    if not isinstance(node_cluster, NodeCluster):
        raise UnavailableError("pods of an existing cluster cannot reach this test")
    load_programs(node_cluster, f"docker.io/{IMAGE}", ["rclone", "fusermount3", "fusermount"])
    load_programs(node_cluster, TASK_IMAGE, ["bash"])
    with running(tmp_path_factory.mktemp("s3"), node_cluster.network.address) as server:
        folder = server.bucket("real") / "data"
        (folder / "deep").mkdir(parents=True)
        (folder / "one.txt").write_text("one\n")
        (folder / "deep" / "two.txt").write_text("two\n")
        yield server


@pytest.fixture(scope="module")
def home(
    node_cluster: Access, bucket: S3Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installation]:
    variables = {"KUBECONFIG": str(node_cluster.kubeconfig), **bucket.variables()}
    with installed(tmp_path_factory.mktemp("home"), variables) as installation:
        yield installation


def test_the_image_of_rclone_copies_mounts_and_writes_back(
    home: Installation, node_cluster: Access, namespace: str, bucket: S3Server, tmp_path: Path
) -> None:
    task = tmp_path / "mounts.yaml"
    task.write_text(TASK)

    printed = home.run("run", str(task), "--on", f"k8s/{CONTEXT}/{namespace}")

    lines = [line.partition(" | ")[2] for line in printed.splitlines()]
    told = [text for text in lines if not text.startswith("storage: ") and "/read/" not in text]
    assert told == ["one", "two", "read-only", "no rclone"], printed
    folder = bucket.folder / "real"
    assert (folder / "zeros").stat().st_size == 3_000_000
    assert (folder / "four.txt").read_text() == "four\nmore\n"
    assert (folder / "later" / "below" / "three.txt").read_text() == "cached\n"
    (pod,) = node_cluster.get("pods", "-n", namespace)["items"]
    assert {each["image"] for each in pod["spec"]["initContainers"]} == {IMAGE}

    home.run("jobs", "delete", "mounts")
    assert wait_until(lambda: not pods_of(node_cluster, namespace), PATIENCE_S)
    assert str(pod["metadata"]["uid"]) not in Path("/proc/mounts").read_text()


def pods_of(cluster: Access, namespace: str) -> list[str]:
    found = cluster.get("pods", "-n", namespace)["items"]
    return [each["metadata"]["name"] for each in found]
