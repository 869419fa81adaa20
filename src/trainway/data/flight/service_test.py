"""Head and workers over Flight, in one process."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import flight

from trainway.data.flight import wire
from trainway.data.flight.client import CachedRows, cached_rows
from trainway.data.flight.connection import Connection
from trainway.data.flight.head import Head, Report
from trainway.data.flight.health import answer
from trainway.data.flight.row_range import RowRange
from trainway.data.flight.service import Rooms, Service
from trainway.data.flight.table import plan
from trainway.data.flight.worker import Worker
from trainway.errors import ForbiddenError, UnavailableError, UsageError

ANY = "grpc://127.0.0.1:0"


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("table")
    for number in range(4):
        ids = pa.array(range(number * 1000, number * 1000 + 1000), pa.int64())
        pq.write_table(pa.table({"id": ids, "text": ["x"] * 1000}), folder / f"{number}.parquet")
    return folder


@contextmanager
def cache(table: Path, folder: Path, token: str = "") -> Iterator[str]:
    """A head and two workers that have loaded the table; the address of the head."""
    head = Head(plan(str(table)), 2, time.monotonic)
    with ExitStack() as stack:
        service = stack.enter_context(Service(ANY, Rooms(head), token))
        workers = []
        for name in ("a", "b"):
            rooms = Rooms()
            served = stack.enter_context(Service(ANY, rooms, token))
            connection = Connection(f"127.0.0.1:{service.port}", token)
            address = f"127.0.0.1:{served.port}"
            rooms.worker = Worker(name, address, folder / name, connection.join)
            workers.append(rooms.worker)
        while head.missing():
            for worker in workers:
                worker.step()
                while worker.load_next():
                    pass
        yield f"127.0.0.1:{service.port}"


def upstream_client(address: str, index: int, total: int) -> list[int]:
    """As Kubeflow's published notebook reads a part."""
    client = flight.connect(f"grpc://{address}")
    info = client.get_flight_info(flight.FlightDescriptor.for_path(str(index), str(total)))
    found = []
    for endpoint in info.endpoints:
        reader = flight.connect(endpoint.locations[0]).do_get(endpoint.ticket)
        for chunk in reader:
            found += chunk.data.column("id").to_pylist()
    return found


def test_a_cache_is_read_by_upstreams_client_and_by_ours(table: Path, tmp_path: Path) -> None:
    with cache(table, tmp_path) as address:
        parts = [upstream_client(address, index, 3) for index in range(3)]
        assert [len(each) for each in parts] == [1334, 1334, 1332]
        assert list(chain(*parts)) == list(range(4000))
        assert upstream_client(address, 4000, 4001) == []  # an error with upstream's cache

        client = flight.connect(f"grpc://{address}")
        everything = flight.FlightDescriptor.for_path("0", "1")
        info = client.get_flight_info(everything)
        assert info.schema.names == ["id", "text"]
        assert client.get_schema(everything).schema == info.schema
        (listed,) = client.list_flights()
        assert listed.total_records == 4000

        ours = cached_rows(f"cache://{address}")
        assert ours.count == 4000
        found = ours.read([RowRange(1990, 2010), RowRange(5, 7), RowRange(3999, 4000)], ["id"])
        assert found.column_names == ["id"]
        assert found.column("id").to_pylist() == [*range(1990, 2010), 5, 6, 3999]

        shuffled = client.get_flight_info(flight.FlightDescriptor.for_path("0", "1", "2", "0"))
        rows: list[int] = []
        for endpoint in shuffled.endpoints:
            reader = flight.connect(endpoint.locations[0]).do_get(endpoint.ticket)
            rows += reader.read_all().column("id").to_pylist()
        assert sorted(rows) == list(range(4000))
        assert rows != sorted(rows)

        described = next(client.do_action(wire.DESCRIBE)).body.to_pybytes()
        assert b'"ready": true' in described


@pytest.mark.parametrize(
    ("path", "said"), [(["7", "3"], "Invalid partition range"), (["x"], "the path of a descriptor")]
)
def test_wrong_questions_are_told(table: Path, tmp_path: Path, path: list[str], said: str) -> None:
    head = Head(plan(str(table)), 1, time.monotonic)
    worker = Worker("a", "127.0.0.1:1", tmp_path, head.join)
    with Service(ANY, Rooms(head, worker)) as service:
        while head.missing():
            worker.step()
            worker.load_next()
        client = flight.connect(f"grpc://127.0.0.1:{service.port}")
        with pytest.raises(pa.ArrowException, match=said):
            client.get_flight_info(flight.FlightDescriptor.for_path(*path))
        with pytest.raises(pa.ArrowInvalid, match="there is no action"):
            list(client.do_action("format"))
        with pytest.raises(pa.ArrowInvalid, match="this is no report"):
            list(client.do_action(flight.Action(wire.JOIN, b"[1]")))
        endless = b'{"name": "z", "address": "", "version": "", "counts": {"0": 1e999}}'
        with pytest.raises(pa.ArrowInvalid, match="this is no report"):
            list(client.do_action(flight.Action(wire.JOIN, endless)))
        with pytest.raises(pa.ArrowInvalid, match="ticket"):
            client.do_get(flight.Ticket(b"\xff")).read_all()


def test_a_token_is_asked_for(table: Path, tmp_path: Path) -> None:
    with cache(table, tmp_path, "secret") as address:
        assert CachedRows(f"grpc://{address}", "secret").read([RowRange(0, 3)]).num_rows == 3
        for wrong in ("", "secre", "sécret"):
            with pytest.raises((ForbiddenError, UnavailableError)):
                CachedRows(f"grpc://{address}", wrong, patience_s=0).read([RowRange(0, 3)])
        with pytest.raises(ForbiddenError, match="refuses the token"):
            Connection(address, "other").join(Report("z", "z:1"))
        with pytest.raises(flight.FlightUnauthenticatedError, match="TRAINWAY_CACHE_TOKEN"):
            upstream_client(address, 0, 1)


def test_a_cache_that_is_not_there_is_told() -> None:
    with pytest.raises(UnavailableError, match=r"the cache at grpc://127\.0\.0\.1:1 does not"):
        CachedRows("grpc://127.0.0.1:1", patience_s=0).read([RowRange(0, 1)])
    with pytest.raises(UnavailableError, match="the head of the cache at"):
        Connection("127.0.0.1:1", "").join(Report("a", "a:1"))


def test_a_worker_says_how_far_it_is(table: Path, tmp_path: Path) -> None:
    head = Head(plan(str(table)), 1, time.monotonic)
    worker = Worker("a", "127.0.0.1:1", tmp_path, head.join)
    planned = plan(str(table))
    assert worker.missing() == "the head has not answered yet"
    worker.step()
    assert worker.missing() == f"0 of {len(planned.files)} files are loaded"
    assert worker.load_next()
    while worker.load_next():
        pass
    assert worker.missing() == "the other workers are loading"
    worker.step()
    worker.step()
    assert worker.missing() == ""


def test_health() -> None:
    assert answer("/ready", lambda: "") == (200, {"ready": True})
    assert answer("/ready", lambda: "2 of 3") == (503, {"ready": False, "reason": "2 of 3"})
    assert answer("/healthz", lambda: "2 of 3")[0] == 200
    assert answer("/etc/passwd", lambda: "")[0] == 404
    assert answer("/status", lambda: "")[0] == 404  # a worker has none
    assert answer("/status", lambda: "", lambda: {"rows": 3}) == (200, {"rows": 3})


@pytest.mark.parametrize(
    ("address", "variables", "head"),
    [
        ("cache://h:7", {}, "grpc://h:7"),
        ("h", {}, "grpc://h:50051"),
        ("", {"TRAINWAY_CACHE_ADDRESS": "h:9"}, "grpc://h:9"),
        ("", {"TRAIN_JOB_NAME": "job"}, "grpc://job-cache-service:50051"),
    ],
)
def test_addresses(
    address: str, variables: dict[str, str], head: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TRAINWAY_CACHE_ADDRESS", "TRAIN_JOB_NAME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert cached_rows(address).head == head


def test_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TRAINWAY_CACHE_ADDRESS", "TRAIN_JOB_NAME"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match="no cache is named"):
        cached_rows()
