"""The data cache as processes: tables of every kind, kills in the middle, torch on top."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cache_processes import CacheProcesses, upstream_part
from environments import TORCH, TORCHDATA, environment
from installation import Installation, installed, kill, processes_of
from s3_server import S3Server

from trainway.data.copying import copy
from trainway.data.flight.client import CachedRows, cached_rows
from trainway.data.flight.contract import TOKEN
from trainway.data.flight.reading import Part, Position, Wishes

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("s3")]

FILES = 6
ROWS = 5_000
ALL = list(range(FILES * ROWS))


def write_table(folder: Path) -> Path:
    folder.mkdir()
    for number in range(FILES):
        ids = pa.array(ALL[number * ROWS : (number + 1) * ROWS], pa.int64())
        texts = [f"row {each}" for each in ids]
        pq.write_table(pa.table({"id": ids, "text": texts}), folder / f"{number}.parquet")
    return folder


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_table(tmp_path_factory.mktemp("cache") / "table")


def ids(rows: list[dict[str, Any]]) -> list[int]:
    return [row["id"] for row in rows]


@pytest.mark.parametrize("victims", [["worker-0"], ["head"], ["worker-1", "head"]])
def test_readers_get_every_row_once_though_the_cache_is_killed(
    table: Path, tmp_path: Path, victims: list[str]
) -> None:
    with CacheProcesses(str(table), tmp_path / "cache") as cache:
        cache.wait_ready()
        readers = [CachedRows(f"grpc://{cache.address}") for _ in range(2)]
        parts = [
            Position(Wishes(seed=3, window_rows=512)).tables(rows, Part(rank, 2))
            for rank, rows in enumerate(readers)
        ]
        found = [next(part) for part in parts]
        for victim in victims:
            cache.kill(victim)
        for victim in victims:
            cache.start(victim)
        found += [each for part in parts for each in part]
        assert sorted(row for each in found for row in each.column("id").to_pylist()) == ALL
        for victim in victims:
            assert "Traceback" not in cache.log(victim).read_text()


def test_a_worker_that_stays_away_is_replaced(table: Path, tmp_path: Path) -> None:
    with CacheProcesses(str(table), tmp_path / "cache", 2, "--patience", "6") as cache:
        cache.wait_ready()
        rows = CachedRows(f"grpc://{cache.address}")
        tables = Position(Wishes(window_rows=512)).tables(rows, Part())
        found = next(tables).column("id").to_pylist()
        cache.kill("worker-1")
        for each in tables:
            found += each.column("id").to_pylist()
        assert found == ALL
        cache.wait_ready()
        parts = [upstream_part(cache.address, index, 7) for index in range(7)]
        assert [row for part in parts for row in ids(part)] == ALL


def test_a_table_in_a_bucket_is_fetched_once(
    table: Path, tmp_path: Path, s3_server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in s3_server.variables().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv(TOKEN, "secret")
    bucket = s3_server.bucket("cache-table")
    copy(str(table), f"s3://{bucket.name}/train")
    with CacheProcesses(f"s3://{bucket.name}/train", tmp_path / "cache") as cache:
        cache.wait_ready()
        rows = CachedRows(f"grpc://{cache.address}", "secret")
        assert rows.count == len(ALL)
        for file in (bucket / "train").iterdir():
            file.rename(bucket / file.name)  # nobody reads it any more
        cache.kill("worker-0")
        cache.start("worker-0")
        tables = Position(Wishes(seed=1)).tables(rows, Part())
        found = [row for each in tables for row in each.column("id").to_pylist()]
        assert sorted(found) == ALL


def test_what_is_wrong_with_a_table_ends_the_head(tmp_path: Path) -> None:
    write_table(tmp_path / "table")
    pq.write_table(pa.table({"other": [1]}), tmp_path / "table" / "z.parquet")
    with CacheProcesses(str(tmp_path / "table"), tmp_path / "cache") as cache:
        assert cache.processes["head"].wait(60) == 1
        assert "z.parquet cannot be read as the other files" in cache.log("head").read_text()
    with CacheProcesses(str(tmp_path / "nothing"), tmp_path / "other", workers=0) as cache:
        assert cache.processes["head"].wait(60) == 3
        assert f"there is nothing at file://{tmp_path}/nothing" in cache.log("head").read_text()


def test_an_iceberg_table_is_read_as_it_is_now(tmp_path: Path) -> None:
    from pyiceberg.catalog.memory import InMemoryCatalog  # noqa: PLC0415 - slow
    from pyiceberg.types import StringType  # noqa: PLC0415 - slow

    catalog = InMemoryCatalog("test", warehouse=f"file://{tmp_path}/warehouse")
    catalog.create_namespace("school")
    first = pa.table({"id": pa.array(range(100), pa.int64()), "score": [0.5] * 100})
    iceberg = catalog.create_table("school.marks", first.schema)
    iceberg.append(first)
    with iceberg.update_schema() as change:
        change.add_column("name", StringType())
    second = {"id": range(100, 150), "score": [1.0] * 50, "name": ["x"] * 50}
    iceberg.append(pa.table(second, iceberg.schema().as_arrow()))
    iceberg.delete("id >= 10 and id < 20")
    with CacheProcesses(iceberg.metadata_location, tmp_path / "cache", workers=0) as cache:
        cache.wait_ready()
        found = [row for index in range(4) for row in upstream_part(cache.address, index, 4)]
    assert sorted(ids(found)) == [*range(10), *range(20, 150)]
    assert {row["id"]: row["name"] for row in found}[5] is None
    assert {row["id"]: row["name"] for row in found}[120] == "x"


def listed(user: Installation, name: str, *states: str) -> dict[str, Any]:
    """The cache, once it is in one of these states."""
    end = time.monotonic() + 120
    while True:
        (found,) = [each for each in user.json("cache", "ls") if each["name"] == name]
        if found["status"] in states:
            return dict(found)
        assert time.monotonic() < end, found
        time.sleep(0.2)


def test_a_cache_is_applied_listed_shared_and_deleted(table: Path, tmp_path: Path) -> None:
    with installed(tmp_path / "home") as user:
        made = user.run("cache", "apply", "words", str(table), "--workers", "2")
        assert "cache words is starting" in made
        ready = listed(user, "words", "Ready")
        assert ready["address"] in made
        assert "is there already" in user.run(
            "cache", "apply", "words", str(table), "--workers", "2"
        )
        user.run("cache", "apply", "words", str(table), code=1)  # with other workers
        readers = [cached_rows(ready["address"]) for _ in range(2)]  # as two jobs
        assert [each.count for each in readers] == [len(ALL), len(ALL)]

        tables = Position(Wishes(seed=2, window_rows=512)).tables(readers[0], Part())
        found = next(tables).column("id").to_pylist()
        for pid in processes_of(ready["job"]):
            if b"trainway.data.flight" in Path(f"/proc/{pid}/cmdline").read_bytes():
                kill(pid)
        found += [row for each in tables for row in each.column("id").to_pylist()]
        assert sorted(found) == ALL

        user.run("cache", "apply", "none", str(tmp_path / "nothing"), code=3)
        (tmp_path / "broken.parquet").write_text("text")
        user.run("cache", "apply", "broken", str(tmp_path / "broken.parquet"))
        assert "is no Parquet file" in listed(user, "broken", "Failed")["message"]
        user.run("cache", "delete", "words", "broken", "-y")
        assert user.json("cache", "ls") == []
        user.run("cache", "delete", "words", "-y", code=3)


TRAIN = """
import json, sys
from torch.utils.data import DataLoader
from trainway.data.torch import TableDataset

address, rows = sys.argv[1], []
for rank in range(2):
    dataset = TableDataset(address, seed=5, rank=rank, world_size=2, columns=["id"])
    for batch in DataLoader(dataset, batch_size=64, num_workers=2):
        rows += batch["id"].tolist()

def batches(dataset):
    return DataLoader(dataset, batch_size=None)

whole = TableDataset(address, seed=5, batch_size=64)
whole.set_epoch(1)
expected = [batch["id"].tolist() for batch in batches(whole)]
begun = TableDataset(address, seed=5, batch_size=64)
begun.set_epoch(1)
seen = []
for number, batch in enumerate(batches(begun)):
    seen.append(batch["id"].tolist())
    if number == 20:
        break
resumed = TableDataset(address, seed=5, batch_size=64)
resumed.load_state_dict(json.loads(json.dumps(begun.state_dict())))
seen += [batch["id"].tolist() for batch in batches(resumed)]
print(json.dumps({
    "rows": rows, "resumed": seen == expected, "next": resumed.state_dict()["epoch"],
    "kinds": [type(batch[name]).__name__ for name in ("id", "text")],
}))
"""


@pytest.mark.parametrize("is_cached", [True, False])
def test_torch_reads_every_row_once_and_resumes(
    table: Path, tmp_path: Path, is_cached: bool
) -> None:
    variables = {"PYTHONPATH": str(environment(*TORCH).packages), "HOME": str(tmp_path)}
    with CacheProcesses(str(table), tmp_path / "cache", workers=0) as cache:
        cache.wait_ready()
        source = f"cache://{cache.address}" if is_cached else str(table)
        done = subprocess.run(
            [sys.executable, "-c", TRAIN, source],
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert sorted(found["rows"]) == ALL
    assert found["rows"] != ALL
    assert (found["resumed"], found["next"]) == (True, 2)
    assert found["kinds"] == ["Tensor", "list"]


OTHERS = """
import json, pickle, sys
from pyarrow import flight
from torch.utils.data import DataLoader, IterableDataset, get_worker_info
from torchdata.stateful_dataloader import StatefulDataLoader
from trainway.data.torch import TableDataset

address = sys.argv[1]

class Published(IterableDataset):
    def __init__(self, rank, world_size, seed, epoch):
        self.rank, self.world_size, self.first = rank, world_size, seed + epoch

    def __iter__(self):
        worker = get_worker_info()
        total = worker.num_workers * self.world_size
        index = (worker.id * self.world_size + self.rank + self.first) % total
        descriptor = flight.FlightDescriptor.for_path(str(index), str(total))
        for endpoint in flight.connect(f"grpc://{address}").get_flight_info(descriptor).endpoints:
            reader = flight.connect(endpoint.locations[0]).do_get(endpoint.ticket)
            for chunk in reader:
                yield from chunk.data.column("id").to_pylist()

published = [
    row
    for rank in range(2)
    for batch in DataLoader(Published(rank, 2, seed=3, epoch=1), batch_size=50, num_workers=2)
    for row in batch.tolist()
]

def loader():
    dataset = TableDataset(f"cache://{address}", seed=5, columns=["id"])
    return StatefulDataLoader(dataset, batch_size=64, num_workers=2)

expected = [batch["id"].tolist() for batch in loader()]
resumed = []
for stop in (1, 21):
    begun, seen = loader(), []
    for batch in begun:
        seen.append(batch["id"].tolist())
        if len(seen) == stop:
            break
    following = loader()
    following.load_state_dict(pickle.loads(pickle.dumps(begun.state_dict())))
    resumed.append(seen + [batch["id"].tolist() for batch in following] == expected)
print(json.dumps({
    "published": published, "rows": sum(expected, []), "resumed": resumed,
}))
"""


def test_upstreams_client_and_the_loader_of_torchdata_read_every_row_once(
    table: Path, tmp_path: Path
) -> None:
    folders = [str(environment(*each).packages) for each in (TORCH, TORCHDATA)]
    variables = {"PYTHONPATH": os.pathsep.join(folders), "HOME": str(tmp_path)}
    with CacheProcesses(str(table), tmp_path / "cache", workers=2) as cache:
        cache.wait_ready()
        done = subprocess.run(
            [sys.executable, "-c", OTHERS, cache.address],
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert sorted(found["published"]) == ALL
    assert sorted(found["rows"]) == ALL
    assert found["resumed"] == [True, True]
