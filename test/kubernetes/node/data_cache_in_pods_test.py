"""A data cache in real pods: a job of the same namespace reads all rows of a table in a bucket.

Where LeaderWorkerSet is installed, with its own controller, it is one, and else a JobSet.
"""

import sys
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cluster.access import Access
from cluster.identities import CONTEXT
from cluster.node import NodeCluster
from cluster.processes import wait_until
from cluster.unavailable import UnavailableError
from installation import Installation, installed
from s3_server import SECRET, S3Server, running

from trainway.backends.kubernetes.pods import is_ready
from trainway.json_types import Json

PATIENCE_S = 180.0
ROWS = 1_000
ADDRESS = "cache://words-head-0-0.words-head-0:50051"
READS = """\
import sys
from trainway.data.flight.client import cached_rows
from trainway.data.flight.reading import Part, Position, Wishes

rows = cached_rows(sys.argv[1])
tables = Position(Wishes(seed=7)).tables(rows, Part())
ids = [row for each in tables for row in each.column("id").to_pylist()]
print(len(ids), sorted(ids) == list(range(rows.count)))
"""


@pytest.fixture(scope="module")
def bucket(node_cluster: Access, tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """An S3 that pods reach, with a table of two files."""
    if not isinstance(node_cluster, NodeCluster):
        raise UnavailableError("pods of an existing cluster cannot reach this test")
    with running(tmp_path_factory.mktemp("s3"), node_cluster.network.address) as server:
        folder = server.bucket("tables") / "words"
        folder.mkdir()
        for number in range(2):
            ids = pa.array(range(number * ROWS, (number + 1) * ROWS), pa.int64())
            pq.write_table(pa.table({"id": ids}), folder / f"{number}.parquet")
        yield server


@pytest.fixture(scope="module")
def home(
    node_cluster: Access, bucket: S3Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installation]:
    variables = {
        "KUBECONFIG": str(node_cluster.kubeconfig),
        "TRAINWAY_CACHE_TOKEN": "open-sesame",
        **bucket.variables(),
    }
    with installed(tmp_path_factory.mktemp("home"), variables) as installation:
        yield installation


def test_a_job_reads_all_rows_from_a_cache_beside_it(
    home: Installation, node_cluster: Access, host_namespace: str
) -> None:
    started(home, host_namespace)
    assert read_by_a_job(home, host_namespace, "reader") == f"{2 * ROWS} True"
    assert SECRET not in home.run("jobs", "show", "words", "-o", "yaml")
    home.run("cache", "delete", "-y", "words")
    assert wait_until(lambda: not left(node_cluster, host_namespace, "pods,secrets"), PATIENCE_S)


def test_a_cache_is_a_leader_worker_set_where_that_is_installed(
    home: Installation, grouping: Access, host_namespace: str
) -> None:
    applied(home, host_namespace, "broken", "s3://tables/none")
    started(home, host_namespace)
    assert left(grouping, host_namespace, "leaderworkersets") == ["broken-head-0", "words-head-0"]
    assert left(grouping, host_namespace, "jobs,jobsets") == []
    pods = ["words-head-0-0", "words-head-0-0-1", "words-head-0-0-2"]
    assert left(grouping, host_namespace, "pods") == ["broken-head-0-0", *pods]
    nodes = home.json("jobs", "show", "words")["status"]["nodes"]
    assert [(node["role"], node["rank"]) for node in nodes] == [
        *(("head", 0), ("worker", 0), ("worker", 1)),
    ]
    before = ready_pod(grouping, host_namespace, pods[1])
    grouping.kubectl("delete", "pod", pods[1], "-n", host_namespace)
    assert read_by_a_job(home, host_namespace, "reader") == f"{2 * ROWS} True"

    def is_back() -> bool:
        return ready_pod(grouping, host_namespace, pods[1]) not in ("", before)

    assert wait_until(is_back, PATIENCE_S)
    told = listed(home)
    assert told["words"]["rows"] == 2 * ROWS
    assert told["broken"]["message"].startswith("there is nothing at s3://tables/none")

    home.run("cache", "delete", "-y", "words", "broken")
    made = "leaderworkersets,statefulsets,controllerrevisions,services,pods,secrets"
    assert wait_until(lambda: not left(grouping, host_namespace, made), PATIENCE_S)
    assert home.json("cache", "ls") == []


def started(home: Installation, namespace: str) -> None:
    """A cache of two workers that can be read."""
    made = applied(home, namespace, "words", "s3://tables/words", "--workers", "2")
    assert f"address: {ADDRESS}" in made

    def can_be_read() -> bool:
        found = listed(home)["words"]
        assert found["status"] != "Failed", home.run("jobs", "logs", "words")
        return bool(found["status"] == "Ready")

    assert wait_until(can_be_read, PATIENCE_S), home.run("jobs", "logs", "words")


def applied(home: Installation, namespace: str, name: str, table: str, *more: str) -> str:
    on = ("--on", f"k8s/{CONTEXT}/{namespace}")
    image = ("--image", "any/image:1", "--python", sys.executable)
    return home.run("cache", "apply", name, table, *more, *on, *image)


def listed(home: Installation) -> dict[str, Json]:
    """The caches, by name."""
    return {found["name"]: found for found in home.json("cache", "ls")}


def ready_pod(cluster: Access, namespace: str, name: str) -> str:
    """What tells a pod from others of its name; empty: it is not there, or not ready."""
    pod = cluster.find("pods", name, namespace) or {}
    return str(pod["metadata"]["uid"]) if is_ready(pod) else ""


def read_by_a_job(home: Installation, namespace: str, name: str) -> str:
    """What a job of the namespace says about the rows that it has read."""
    token = ("--env", "TRAINWAY_CACHE_TOKEN=open-sesame")
    words = ("--name", name, "--nodes", "1", *token, "--on", f"k8s/{CONTEXT}/{namespace}")
    printed = home.run("run", *words, "--", sys.executable, "-c", READS, ADDRESS)
    return printed.splitlines()[-1].removeprefix("node-0 | ")


def left(cluster: Access, namespace: str, kinds: str) -> list[str]:
    """The objects of the cache, by name."""
    found = cluster.get(kinds, "-n", namespace)["items"]
    names = sorted(each["metadata"]["name"] for each in found)
    return [name for name in names if name.startswith(("words", "broken"))]
