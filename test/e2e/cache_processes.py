"""Heads and workers of a data cache as processes that tests kill and start again."""

import json
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq
from cluster.ports import free_port
from installation import Installation
from pyarrow import flight


class CacheProcesses:
    """One head and its workers; they are ended with the block."""

    def __init__(self, table: str, folder: Path, workers: int = 2, *extra: str) -> None:
        self._table = table
        self._folder = folder
        self._workers = workers
        self._extra = extra
        self.port = free_port()
        self._health = free_port()
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Self:
        self.start("head")
        for number in range(self._workers):
            self.start(f"worker-{number}")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            process.wait(30)

    @property
    def address(self) -> str:
        """Of the head."""
        return f"127.0.0.1:{self.port}"

    def start(self, name: str) -> None:
        """Start the head or a worker."""
        words = ["--folder", str(self._folder / name), "--advertise", "127.0.0.1"]
        if name == "head":
            role = ["head", "127.0.0.1", str(self.port), "--table", self._table]
            words += [
                "--workers",
                str(self._workers),
                "--health-port",
                str(self._health),
                *self._extra,
            ]
        else:
            role = ["worker", "127.0.0.1", "0", "--head", self.address]
            words += ["--name", name, "--health-port", "0"]
        self._folder.mkdir(exist_ok=True)
        with self.log(name).open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-m", "trainway.data.flight", *role, *words],
                stdout=log,
                stderr=log,
            )

    def kill(self, name: str) -> None:
        """As a machine that loses its power does."""
        self.processes[name].send_signal(signal.SIGKILL)
        self.processes[name].wait()

    def log(self, name: str) -> Path:
        """What it said."""
        return self._folder / f"{name}.log"

    def wait_ready(self) -> None:
        """Until the head says that all rows can be read."""
        end = time.monotonic() + 120
        while not self.ready()[0]:
            assert time.monotonic() < end, self.ready()
            assert self.processes["head"].poll() is None, self.log("head").read_text()
            time.sleep(0.05)

    def ready(self) -> tuple[bool, str]:
        """What a probe gets."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._health}/ready") as answer:
                return answer.status == 200, ""
        except urllib.error.HTTPError as error:
            return False, json.load(error)["reason"]
        except OSError:
            return False, "nobody listens"


def upstream_part(address: str, index: int, total: int) -> list[dict[str, Any]]:
    """A part as the client in Kubeflow's notebook reads it: no retry, nothing of ours."""
    client = flight.connect(f"grpc://{address}")
    info = client.get_flight_info(flight.FlightDescriptor.for_path(str(index), str(total)))
    rows: list[dict[str, Any]] = []
    for endpoint in info.endpoints:
        for location in endpoint.locations:
            reader = flight.connect(location).do_get(endpoint.ticket)
            rows += [row for chunk in reader for row in chunk.data.to_pylist()]
    return rows


def numbered_table(folder: Path, files: int, rows: int) -> str:
    """A Parquet table with so many files of so many rows, whose ids count from 0."""
    folder.mkdir()
    for number in range(files):
        ids = pa.array(range(number * rows, (number + 1) * rows), pa.int64())
        pq.write_table(pa.table({"id": ids}), folder / f"{number}.parquet")
    return str(folder)


def ready_cache(user: Installation) -> dict[str, Any]:
    """The only cache of a user, as it is listed when it is ready and its size is known."""
    end = time.monotonic() + 120
    while True:
        (found,) = user.json("cache", "ls")
        if found["status"] == "Ready" and found["rows"] is not None:
            return dict(found)
        assert time.monotonic() < end, found
        time.sleep(0.2)
