"""What reading from a data cache costs, beside a bare Flight server of pyarrow.

Both serve the same table in batches of a megabyte: the cache from its disk, with a head and one
worker; the bare server from memory, and it does nothing but give slices. One, two and four
processes read a part each, with upstream's client. Both servers take turns in many short rounds,
also at being the first of one, so that whatever else the machine does hits both alike. Each round
gives the cache's time as a multiple of the bare server's, and the middle of these is the figure;
beside it is how much of a processor the process that serves the rows takes for a gigabyte. Then the
time until an epoch's first shuffled batch, as a training loop sees it.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import pyarrow as pa
import pyarrow.parquet as pq
from cache_processes import CacheProcesses

from benchmarks.suite import Row
from trainway.data.flight.client import CachedRows
from trainway.data.flight.reading import Part, Position, Wishes, batches

USUAL_THOUSANDS: Final = 800
TOKENS: Final = 128
FILES: Final = 4
ROUNDS: Final = 41
FIRST_BATCHES: Final = 15
CLIENTS: Final = (1, 2, 4)
MOST_TIMES: Final = 1 / 0.9
MOST_FIRST_S: Final = 0.2
USED_FIELDS: Final = slice(11, 13)
"""Of /proc/PID/stat behind the command: the time as a user, and in the system."""

BARE: Final = """
import sys
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import flight
table = pa.Table.from_batches(pq.read_table(sys.argv[1]).to_batches(max_chunksize=2048))
class Server(flight.FlightServerBase):
    def get_flight_info(self, context, descriptor):
        index, total = map(int, descriptor.path)
        size = -(-table.num_rows // total)
        here = flight.Location.for_grpc_tcp("127.0.0.1", self.port)
        ticket = f"{index * size} {size}".encode()
        return flight.FlightInfo(table.schema, descriptor, [flight.FlightEndpoint(ticket, [here])])
    def do_get(self, context, ticket):
        start, size = map(int, ticket.ticket.split())
        return flight.RecordBatchStream(table.slice(start, size))
server = Server("grpc://127.0.0.1:0")
print(server.port, flush=True)
sys.stdin.read()
"""
CLIENT: Final = """
import sys, time
from pyarrow import flight
address, index, total = sys.argv[1:]
client = flight.connect(f"grpc://{address}")
print("ready", flush=True)
for _ in sys.stdin:
    info = client.get_flight_info(flight.FlightDescriptor.for_path(index, total))
    rows = size = 0
    for endpoint in info.endpoints:
        for chunk in flight.connect(endpoint.locations[0]).do_get(endpoint.ticket):
            rows += chunk.data.num_rows
            size += chunk.data.nbytes
    print(rows, size, flush=True)
"""


def main(arguments: list[str]) -> int:
    """Print the figures; 1 if a limit was missed."""
    rows = int(arguments[0]) * 1000 if arguments else USUAL_THOUSANDS * 1000
    is_kept = True
    with tempfile.TemporaryDirectory(prefix="cache-") as folder:
        write(Path(folder, "table"), rows)
        for row in measured(Path(folder)):
            print(row, flush=True)
            is_kept = is_kept and row.is_kept
    return 0 if is_kept else 1


def write(folder: Path, rows: int) -> None:
    """A table of tokens, as language models read them."""
    folder.mkdir()
    size = rows // FILES
    for number in range(FILES):
        ids = pa.array(range(number * size, (number + 1) * size), pa.int64())
        flat = pa.array(range(size * TOKENS), pa.int32())
        tokens = pa.FixedSizeListArray.from_arrays(flat, TOKENS)
        pq.write_table(pa.table({"id": ids, "tokens": tokens}), folder / f"{number}.parquet")


def measured(folder: Path) -> Iterator[Row]:
    """Times against the bare server's, then the first batch."""
    table = str(folder / "table")
    with (
        CacheProcesses(table, folder / "cache", 1) as cache,
        subprocess.Popen(
            [sys.executable, "-c", BARE, table],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as bare,
    ):
        assert bare.stdout is not None  # noqa: S101 - a pipe
        assert bare.stdin is not None  # noqa: S101 - a pipe
        cache.wait_ready()
        port = int(bare.stdout.readline())
        sides = {
            "bare": Side(f"127.0.0.1:{port}", bare.pid),
            "cache": Side(cache.address, cache.processes["worker-0"].pid),
        }
        for clients in CLIENTS:
            yield beside(sides, clients)
        bare.stdin.close()
        yield first_batch(cache)


@dataclass(frozen=True)
class Side:
    """A server, and what reading from it took in each round."""

    address: str
    pid: int
    """Of the process that serves the rows."""

    def used_s(self) -> float:
        """How much of a processor that process has had."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[USED_FIELDS])) / os.sysconf("SC_CLK_TCK")


def beside(sides: Mapping[str, Side], clients: int) -> Row:
    """The time of the cache as a multiple of the bare server's: the middle of all rounds."""
    times: dict[str, list[float]] = {name: [] for name in sides}
    used = dict.fromkeys(sides, 0.0)
    rows = size = 0
    with ExitStack() as stack:
        readers = {
            name: stack.enter_context(Readers(side, clients)) for name, side in sides.items()
        }
        for each in readers.values():
            each.read()  # for the first time, which counts for neither
        for number in range(ROUNDS):
            for name in list(sides)[:: 1 if number % 2 else -1]:
                before = sides[name].used_s()
                seconds, rows, size = readers[name].read()
                times[name].append(seconds)
                used[name] += sides[name].used_s() - before
    ratio = statistics.median(
        ours / theirs for ours, theirs in zip(times["cache"], times["bare"], strict=True)
    )
    speeds = ", ".join(
        f"{name} {rows / middle / 1e6:.2f} M rows/s {size / middle / 1e9:.2f} GB/s"
        f" {used[name] / ROUNDS / size * 1e9:.2f} CPU s/GB"
        for name, middle in ((name, statistics.median(each)) for name, each in times.items())
    )
    what = f"read by {clients} client{'s' * (clients > 1)}, beside a bare server"
    return Row(what, ratio, "x", MOST_TIMES, speeds)


class Readers:
    """Processes that read a part each, again and again."""

    def __init__(self, side: Side, count: int) -> None:
        self._processes: list[Any] = [
            subprocess.Popen(
                [sys.executable, "-c", CLIENT, side.address, str(index), str(count)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for index in range(count)
        ]

    def __enter__(self) -> Self:
        for process in self._processes:
            process.stdout.readline()
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.communicate()

    def read(self) -> tuple[float, int, int]:
        """The seconds until all have read their parts, and how many rows and bytes those were."""
        begun = time.perf_counter()
        for process in self._processes:
            process.stdin.write("go\n")
            process.stdin.flush()
        found = [tuple(map(int, process.stdout.readline().split())) for process in self._processes]
        seconds = time.perf_counter() - begun
        return seconds, sum(each[0] for each in found), sum(each[1] for each in found)


def first_batch(cache: CacheProcesses) -> Row:
    """The seconds from the beginning of an epoch to its first batch; the middle of several."""
    times = []
    for epoch in range(FIRST_BATCHES):
        position = Position(Wishes(seed=1))
        position.begin(epoch)
        begun = time.perf_counter()
        tables = position.tables(CachedRows(f"grpc://{cache.address}"), Part())
        next(batches(tables, 64))
        times.append(time.perf_counter() - begun)
        tables.close()
    return Row("an epoch's first batch, shuffled", statistics.median(times), "s", MOST_FIRST_S)
