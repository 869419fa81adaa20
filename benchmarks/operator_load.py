"""The load of the operator's benchmark: TrainJobs created at some pace, and when JobSets came.

Bodies are made beforehand and JobSets are watched without their content, so that what is measured
is not this program.
"""

import asyncio
import math
import re
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from trainway.kube.client import Client
from trainway.kube.connection import Connection, load_connection
from trainway.kube.requests import Selection
from trainway.kube.resources import JOBSETS, TRAINJOBS

NAMESPACE = "default"
CREATORS = 24
PATIENCE_S = 600.0


@dataclass(frozen=True)
class Latencies:
    """How long after its creation was asked for each TrainJob had a JobSet."""

    seconds: Sequence[float]
    took: float
    """From the first request to the last JobSet."""
    created_in: float
    """From the first request to the last answer."""

    @property
    def rate(self) -> float:
        """TrainJobs with a JobSet per second."""
        return len(self.seconds) / self.took

    def percentile(self, share: float) -> float:
        """The time within which this share of the jobs had its JobSet."""
        ordered = sorted(self.seconds)
        return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def train_job(name: str) -> dict[str, Any]:
    """A job as people write them."""
    return {
        "apiVersion": TRAINJOBS.api_version,
        "kind": TRAINJOBS.kind,
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "runtimeRef": {"name": "torch-distributed"},
            "trainer": {
                "numNodes": 2,
                "command": ["torchrun", "train.py"],
                "env": [{"name": "EPOCHS", "value": "3"}],
                "resourcesPerNode": {"requests": {"cpu": "2", "memory": "4Gi"}},
            },
        },
    }


class Creator:
    """One connection that creates objects, with as little work for this program as can be."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        headers = "".join(f"{name}: {value}\r\n" for name, value in connection.headers)
        self._head = (
            f"POST {TRAINJOBS.path(NAMESPACE)} HTTP/1.1\r\nHost: load\r\n{headers}"
            "Content-Type: application/json\r\nContent-Length: "
        ).encode()
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def create(self, body: bytes) -> None:
        """Send one object; an answer other than 201 is an error."""
        if self._reader is None or self._writer is None:
            address = urlsplit(self._connection.host)
            self._reader, self._writer = await asyncio.open_connection(
                address.hostname, address.port, ssl=self._connection.ssl_context
            )
        self._writer.write(b"%s%d\r\n\r\n%s" % (self._head, len(body), body))
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        text = await self._reader.readexactly(int(length[1])) if length else await self._chunks()
        if b" 201 " not in head[:20]:
            raise RuntimeError(f"{head[:20]!r}: {text[:500]!r}")

    async def _chunks(self) -> bytes:
        assert self._reader is not None  # noqa: S101
        text = b""
        while size := int(await self._reader.readline(), 16):
            text += (await self._reader.readexactly(size + 2))[:-2]
        await self._reader.readline()
        return text

    def close(self) -> None:
        """Hang up."""
        if self._writer is not None:
            self._writer.close()


async def offer(kubeconfig: Path, prefix: str, count: int, rate: float | None) -> Latencies:
    """Create so many jobs, at a rate or as fast as they are taken, and wait for all JobSets."""
    names = [f"{prefix}-{number}" for number in range(count)]
    bodies = {name: orjson.dumps(train_job(name)) for name in names}
    sent: dict[str, float] = {}
    connection = load_connection(kubeconfig)
    await connection.refresh()
    creators = [Creator(connection) for _ in range(CREATORS)]
    async with (
        Client(load_connection(kubeconfig)) as watcher,
        _arrivals(watcher, set(names)) as seen,
    ):
        start = time.perf_counter()
        await _create(creators, bodies, sent, start, rate)
        created_in = time.perf_counter() - start
        async with asyncio.timeout(PATIENCE_S):
            await seen.complete.wait()
    for creator in creators:
        creator.close()
    taken = [seen.at[name] - sent[name] for name in names]
    return Latencies(taken, max(seen.at.values()) - start, created_in)


async def _create(
    creators: Sequence[Creator],
    bodies: dict[str, bytes],
    sent: dict[str, float],
    start: float,
    rate: float | None,
) -> None:
    """Let each creator take the next job when it is free and, with a rate, when it is time."""
    waiting = iter(enumerate(bodies.items()))

    async def work(creator: Creator) -> None:
        for number, (name, body) in waiting:
            if rate is not None:
                await asyncio.sleep(max(0.0, start + number / rate - time.perf_counter()))
            sent[name] = time.perf_counter()
            await creator.create(body)

    async with asyncio.TaskGroup() as tasks:
        for creator in creators:
            tasks.create_task(work(creator))


class Arrivals:
    """When each JobSet was seen first."""

    def __init__(self, wanted: set[str]) -> None:
        self.at: dict[str, float] = {}
        self.complete = asyncio.Event()
        self._wanted = wanted

    def note(self, name: str) -> None:
        """A JobSet is there."""
        if name in self._wanted and name not in self.at:
            self.at[name] = time.perf_counter()
            if len(self.at) == len(self._wanted):
                self.complete.set()


@asynccontextmanager
async def _arrivals(client: Client, wanted: set[str]) -> AsyncIterator[Arrivals]:
    arrivals = Arrivals(wanted)
    version = (await client.list(JOBSETS, metadata_only=True)).resource_version
    watching = asyncio.create_task(_watch(client, version, arrivals))
    try:
        yield arrivals
    finally:
        watching.cancel()
        await asyncio.wait({watching})


async def _watch(client: Client, version: str, arrivals: Arrivals) -> None:
    selection = Selection(metadata_only=True)
    while True:
        async with aclosing(
            client.watch(JOBSETS, resource_version=version, selection=selection)
        ) as events:
            async for event in events:
                version = event.object["metadata"]["resourceVersion"]
                if event.type == "ADDED":
                    arrivals.note(event.object["metadata"]["name"])
