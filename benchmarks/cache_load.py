"""What reading from a data cache costs, beside a bare Flight server of pyarrow.

Both serve the same table in batches of a megabyte: the cache from its disk, with a head and one
worker; the bare server from memory, and it does nothing but give slices. One, two and four
processes read a part each, with upstream's client. Both servers take turns, also at being the first
of a round, since memory that a client has just given back is quicker to get again; the best time of
each counts. Then the time until an epoch's first shuffled batch, as a training loop sees it.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from cache_processes import CacheProcesses

from benchmarks.suite import Row
from trainway.data.flight.client import CachedRows
from trainway.data.flight.reading import Part, Position, Wishes, batches

USUAL_THOUSANDS: Final = 800
TOKENS: Final = 128
FILES: Final = 4
ROUNDS: Final = 15
CLIENTS: Final = (1, 2, 4)
MOST_TIMES: Final = 1 / 0.9
MOST_FIRST_S: Final = 0.2

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
sys.stdin.readline()
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
        addresses = {"bare": f"127.0.0.1:{int(bare.stdout.readline())}", "cache": cache.address}
        for clients in CLIENTS:
            yield beside(addresses, clients)
        bare.stdin.close()
        yield first_batch(cache)


def beside(addresses: dict[str, str], clients: int) -> Row:
    """The best time of the cache, as a multiple of the bare server's."""
    times: dict[str, list[float]] = {name: [] for name in addresses}
    rows = size = 0
    for number in range(ROUNDS):
        for name, address in list(addresses.items())[:: 1 if number % 2 else -1]:
            seconds, rows, size = read(address, clients)
            times[name].append(seconds)
    best = {name: min(each) for name, each in times.items()}
    speeds = ", ".join(
        f"{name} {rows / seconds / 1e6:.2f} M rows/s {size / seconds / 1e9:.2f} GB/s"
        for name, seconds in best.items()
    )
    what = f"read by {clients} client{'s' * (clients > 1)}, beside a bare server"
    return Row(what, best["cache"] / best["bare"], "x", MOST_TIMES, speeds)


def read(address: str, clients: int) -> tuple[float, int, int]:
    """The seconds until all clients have read their parts, and what they read."""
    started: list[Any] = [
        subprocess.Popen(
            [sys.executable, "-c", CLIENT, address, str(index), str(clients)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for index in range(clients)
    ]
    for client in started:
        client.stdout.readline()
    begun = time.perf_counter()
    for client in started:
        client.stdin.write("go\n")
        client.stdin.flush()
    found = [tuple(map(int, client.stdout.readline().split())) for client in started]
    seconds = time.perf_counter() - begun
    for client in started:
        client.communicate()
    return seconds, sum(each[0] for each in found), sum(each[1] for each in found)


def first_batch(cache: CacheProcesses) -> Row:
    """The seconds from the beginning of an epoch to its first batch; the middle of several."""
    times = []
    for epoch in range(ROUNDS):
        position = Position(Wishes(seed=1))
        position.begin(epoch)
        begun = time.perf_counter()
        tables = position.tables(CachedRows(f"grpc://{cache.address}"), Part())
        next(batches(tables, 64))
        times.append(time.perf_counter() - begun)
        tables.close()
    return Row("an epoch's first batch, shuffled", statistics.median(times), "s", MOST_FIRST_S)
