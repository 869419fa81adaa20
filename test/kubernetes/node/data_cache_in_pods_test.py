"""A data cache in real pods: a job of the same namespace reads all rows of a table in a bucket."""

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

PATIENCE_S = 180.0
ROWS = 1_000
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
    on = ("--on", f"k8s/{CONTEXT}/{host_namespace}")
    image = ("--image", "any/image:1", "--python", sys.executable)
    made = home.run("cache", "apply", "words", "s3://tables/words", "--workers", "2", *on, *image)
    address = "cache://words-head-0-0.words-head-0:50051"
    assert f"address: {address}" in made

    def is_ready() -> bool:
        (found,) = home.json("cache", "ls")
        assert found["status"] != "Failed", home.run("jobs", "logs", "words")
        return bool(found["status"] == "Ready")

    assert wait_until(is_ready, PATIENCE_S), home.run("jobs", "logs", "words")
    token = ("--env", "TRAINWAY_CACHE_TOKEN=open-sesame")
    reading = ("--name", "reader", "--nodes", "1", *token, *on)
    printed = home.run("run", *reading, "--", sys.executable, "-c", READS, address)
    assert printed.splitlines()[-1] == f"node-0 | {2 * ROWS} True"
    assert SECRET not in home.run("jobs", "show", "words", "-o", "yaml")

    home.run("cache", "delete", "-y", "words")
    assert wait_until(lambda: not left(node_cluster, host_namespace), PATIENCE_S)


def left(cluster: Access, namespace: str) -> list[str]:
    """Pods and Secrets of the cache."""
    found = cluster.get("pods,secrets", "-n", namespace)["items"]
    return [each for each in found if each["metadata"]["name"].startswith("words")]
