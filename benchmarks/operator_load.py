"""The load of the operator's benchmark: TrainJobs created at some pace, and when JobSets came.

Bodies are made beforehand and JobSets are watched without their content, so that what is measured
is not this program.
"""

import asyncio
import itertools
import math
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from trainway.kube.client import Client
from trainway.kube.connection import load_connection
from trainway.kube.requests import JSON, Request, Selection
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


def creation(name: str) -> Request:
    """The literal request."""
    body = orjson.dumps(train_job(name))
    return Request("POST", TRAINJOBS.path(NAMESPACE), body, JSON, is_repeatable=False)


async def offer(kubeconfig: Path, prefix: str, count: int, rate: float | None) -> Latencies:
    """Create so many jobs, at a rate or as fast as they are taken, and wait for all JobSets."""
    requests = {f"{prefix}-{number}": creation(f"{prefix}-{number}") for number in range(count)}
    sent: dict[str, float] = {}
    async with (
        Client(load_connection(kubeconfig)) as client,
        Client(load_connection(kubeconfig)) as watcher,
        _arrivals(watcher, set(requests)) as seen,
    ):
        start = time.perf_counter()
        if rate is None:
            await _create_at_once(client, requests, sent)
        else:
            await _create_at_rate(client, requests, sent, rate)
        created_in = time.perf_counter() - start
        async with asyncio.timeout(PATIENCE_S):
            await seen.complete.wait()
    taken = [seen.at[name] - sent[name] for name in requests]
    return Latencies(taken, max(seen.at.values()) - start, created_in)


async def _create_at_once(
    client: Client, requests: dict[str, Request], sent: dict[str, float]
) -> None:
    waiting = iter(requests.items())

    async def create() -> None:
        for name, request in waiting:
            sent[name] = time.perf_counter()
            await client.send(request)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(CREATORS):
            tasks.create_task(create())


async def _create_at_rate(
    client: Client, requests: dict[str, Request], sent: dict[str, float], rate: float
) -> None:
    """One after the other by the clock, whether or not those before were answered."""
    start = time.perf_counter()
    async with asyncio.TaskGroup() as tasks:
        for number, (name, request) in zip(itertools.count(), requests.items(), strict=False):
            await asyncio.sleep(max(0.0, start + number / rate - time.perf_counter()))
            sent[name] = time.perf_counter()
            tasks.create_task(client.send(request))


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
