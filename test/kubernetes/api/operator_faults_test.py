"""What an operator goes through: it is killed again and again, and the API server with it."""

import asyncio
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster.access import Access
from cluster.control_plane import ControlPlane
from gang_audit import Births, ending
from jobset_player import playing
from operator_process import OperatorProcess
from torch_jobs import torch_job

from trainway.errors import TrainwayError
from trainway.kube.client import Client
from trainway.kube.connection import load_connection
from trainway.kube.errors import AlreadyExists
from trainway.kube.resources import CONFIG_MAPS, JOBSETS, TRAINJOBS

JOBS, KILLS = 300, 50
PATIENCE_S = 240.0


pytestmark = pytest.mark.usefixtures("torch_runtime")


@pytest.fixture
def operator(api_cluster: Access, namespace: str, tmp_path: Path) -> Iterator[OperatorProcess]:
    process = OperatorProcess(api_cluster, tmp_path / "operator.log", ["--namespace", namespace])
    yield process
    process.kill()


async def endings(client: Client, namespace: str) -> dict[str, str | None]:
    listing = await client.list(TRAINJOBS, namespace)
    return {item["metadata"]["name"]: ending(item) for item in listing.items}


async def wait_for_endings(client: Client, namespace: str) -> dict[str, str | None]:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        found = await endings(client, namespace)
        if all(found.values()) or time.monotonic() > deadline:
            return found
        await asyncio.sleep(0.5)


def fails(name: str) -> bool:
    """Every tenth job ends badly."""
    return name.endswith("7")


async def create_jobs(client: Client, namespace: str, count: int, seconds: float) -> None:
    """Create jobs evenly over a time."""
    start = time.monotonic()
    for number in range(count):
        await asyncio.sleep(max(0.0, start + number * seconds / count - time.monotonic()))
        await client.create(TRAINJOBS, torch_job(f"job-{number}"), namespace)


def test_an_operator_killed_fifty_times_loses_nothing_and_makes_nothing_twice(
    api_cluster: Access, namespace: str, operator: OperatorProcess
) -> None:
    chance = random.Random(namespace)  # noqa: S311 (when to kill, no secret)

    async def lives() -> int:
        """How many lives got as far as working before they were killed."""
        worked = 0
        for number in range(KILLS):
            operator.start()
            if number % 5 == 0:  # in the middle of its start
                await asyncio.sleep(chance.uniform(0, 1.5))
            else:
                await asyncio.to_thread(operator.wait_ready)
                worked += 1
                await asyncio.sleep(chance.uniform(0, 0.4))
            await asyncio.to_thread(operator.kill)
        return worked

    async def scenario() -> tuple[dict[str, str | None], Births, int]:
        births = Births(JOBSETS, CONFIG_MAPS)
        async with (
            Client(load_connection(api_cluster.kubeconfig)) as client,
            births.recording(client, namespace),
            playing(client, namespace, fails),
        ):
            living = asyncio.create_task(lives())
            creating = asyncio.create_task(create_jobs(client, namespace, JOBS, KILLS * 1.0))
            worked = await living
            await creating
            operator.start()
            ends = await wait_for_endings(client, namespace)
            await births.wait_for(JOBSETS, len(ends), PATIENCE_S)
            return ends, births, worked

    ends, births, worked = asyncio.run(scenario())
    wanted = {f"job-{number}" for number in range(JOBS)}
    assert ends == {name: "Failed" if fails(name) else "Complete" for name in wanted}
    assert births.twice() == []
    assert births.names(JOBSETS) == wanted
    assert worked == KILLS - KILLS // 5
    assert "Traceback" not in operator.log


def test_an_api_server_that_restarts_is_found_again(
    api_cluster: Access, namespace: str, operator: OperatorProcess
) -> None:
    assert isinstance(api_cluster, ControlPlane)

    async def scenario() -> dict[str, str | None]:
        async with (
            Client(load_connection(api_cluster.kubeconfig)) as client,
            playing(client, namespace, fails),
        ):
            await create_jobs(client, namespace, 5, 0)
            await wait_for_endings(client, namespace)
            api_cluster.restart_api_server()  # here: it dies with the thread that starts it
            for number in range(5, 10):
                await _created(client, namespace, f"job-{number}")
            return await wait_for_endings(client, namespace)

    operator.start()
    operator.wait_ready()
    pid = operator.pid
    ends = asyncio.run(scenario())
    wanted = [f"job-{number}" for number in range(10)]
    assert ends == {name: "Failed" if fails(name) else "Complete" for name in wanted}
    assert operator.process.is_alive()
    assert operator.pid == pid
    assert "Traceback" not in operator.log


async def _created(client: Client, namespace: str, name: str) -> None:
    """Create a job; the API server may need a moment to be itself again."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                await client.create(TRAINJOBS, torch_job(name), namespace)
            except AlreadyExists:  # by an attempt that got no answer
                return
            except TrainwayError:
                await asyncio.sleep(0.2)
            else:
                return
