"""When pods come to be, as a client of the API server sees it."""

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from trainway.kube.client import Client
from trainway.kube.connection import load_connection
from trainway.kube.requests import Selection
from trainway.kube.resources import PODS

PATIENCE_S = 60.0


@dataclass(frozen=True)
class Birth:
    """A pod that has come to be."""

    labels: Mapping[str, str]
    at: float
    """By the clock of `time.perf_counter`."""


@contextlib.contextmanager
def pod_births(kubeconfig: Path, namespace: str) -> Iterator["queue.Queue[Birth]"]:
    """All pods of a namespace that come from now on."""
    found: queue.Queue[Birth] = queue.Queue()
    ready = threading.Event()
    stops: list[Callable[[], object]] = []

    async def watch() -> None:
        async with Client(load_connection(kubeconfig)) as client:
            version = (await client.list(PODS, namespace)).resource_version
            while True:
                changes = client.watch(
                    PODS,
                    namespace,
                    resource_version=version,
                    selection=Selection(metadata_only=True),
                    on_open=ready.set,
                )
                async with contextlib.aclosing(changes):
                    async for event in changes:
                        version = event.object["metadata"]["resourceVersion"]
                        if event.type == "ADDED":
                            labels = event.object["metadata"].get("labels") or {}
                            found.put(Birth(labels, time.perf_counter()))

    async def run() -> None:
        task = asyncio.create_task(watch())
        loop = asyncio.get_running_loop()
        stops.append(lambda: loop.call_soon_threadsafe(task.cancel))
        with contextlib.suppress(asyncio.CancelledError):
            await task

    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    if not ready.wait(PATIENCE_S):
        raise SystemExit("the watch of the pods does not open")
    try:
        yield found
    finally:
        stops[0]()
        thread.join()
