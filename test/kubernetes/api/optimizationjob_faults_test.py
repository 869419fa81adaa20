"""A search whose operator is killed again and again, on a real API server."""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Final

import pytest
from cluster.access import Access
from gang_audit import Births, ending
from jobset_player import events, playing
from operator_process import OperatorProcess
from torch_jobs import RUNTIME, torch_job

from trainway.json_types import Json
from trainway.kube.client import Client
from trainway.kube.connection import load_connection
from trainway.kube.resources import OPTIMIZATION_JOBS, TRAINJOBS, Resource
from trainway.operator.optimizationjobs.testing import search
from trainway.sdk.kubeflow import (
    CustomTrainer,
    KubernetesBackendConfig,
    OptimizerClient,
    Search,
    TrainJobTemplate,
    TrialConfig,
)

TRIALS, PARALLEL, KILLS = 12, 3, 8
PATIENCE_S: Final = 240.0
MOMENT: Final = "2026-01-31T12:00:00Z"

pytestmark = pytest.mark.usefixtures("torch_runtime")


class Trials(Births):
    """The trials that there were, and how many at a time."""

    def __init__(self) -> None:
        super().__init__(TRAINJOBS)
        self.most = 0
        self._active: set[str] = set()

    def note(self, resource: Resource, obj: Json) -> None:
        super().note(resource, obj)
        name = obj["metadata"]["name"]
        (self._active.discard if ending(obj) else self._active.add)(name)
        self.most = max(self.most, len(self._active))


@asynccontextmanager
async def reporting(client: Client, namespace: str) -> AsyncIterator[None]:
    """Let every new trial report a loss, which is smaller the later it comes."""

    async def report() -> None:
        async with aclosing(events(client, TRAINJOBS, namespace)) as changes:
            async for kind, job in changes:
                if kind == "ADDED":
                    name = job["metadata"]["name"]
                    loss = 1 / (1 + int(name.removeprefix("search-")))
                    metrics = [{"name": "loss", "value": str(loss)}]
                    status = {"metrics": metrics, "lastUpdatedTime": MOMENT}
                    body = {"status": {"trainerStatus": status}}
                    await client.patch(TRAINJOBS, name, namespace, body, subresource="status")

    task = asyncio.create_task(report())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


async def ended(client: Client, namespace: str) -> Json:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        found = await client.get(OPTIMIZATION_JOBS, "search", namespace)
        if ending(found) or time.monotonic() > deadline:
            return found
        await asyncio.sleep(0.2)


def test_a_search_whose_operator_is_killed_loses_doubles_and_exceeds_nothing(
    api_cluster: Access, namespace: str, tmp_path: Path
) -> None:
    operator = OperatorProcess(api_cluster, tmp_path / "operator.log", ["--namespace", namespace])
    chance = random.Random(namespace)  # noqa: S311 (when to kill, no secret)

    async def scenario() -> tuple[Json, Trials]:
        trials = Trials()
        async with (
            Client(load_connection(api_cluster.kubeconfig)) as client,
            trials.recording(client, namespace),
            reporting(client, namespace),
            playing(client, namespace),
        ):
            template = {"spec": torch_job("trial")["spec"]}
            wanted = search(TRIALS, "search", parallelTrials=PARALLEL, trainJobTemplate=template)
            await client.create(OPTIMIZATION_JOBS, wanted, namespace)
            for _ in range(KILLS):
                operator.start()
                await asyncio.to_thread(operator.wait_ready)
                await asyncio.sleep(chance.uniform(0, 0.3))
                await asyncio.to_thread(operator.kill)
            operator.start()
            return await ended(client, namespace), trials

    try:
        found, trials = asyncio.run(scenario())
    finally:
        operator.kill()
    conditions = [(item["type"], item["reason"]) for item in found["status"]["conditions"]]
    assert conditions == [("Created", "OptimizationJobCreated"), ("Complete", "MaxTrialsReached")]
    assert trials.twice() == []
    assert trials.names(TRAINJOBS) == {f"search-{number}" for number in range(TRIALS)}
    assert trials.most <= PARALLEL
    best = f"search-{TRIALS - 1}"
    assert found["status"]["result"]["trainJobName"] == best
    assert "Traceback" not in operator.log
    assert_the_sdk_finds_the_same(api_cluster, namespace)


def assert_the_sdk_finds_the_same(cluster: Access, namespace: str) -> None:
    """The OptimizerClient reads the search, and creates and deletes another one."""
    wanted = KubernetesBackendConfig(namespace=namespace, config_file=str(cluster.kubeconfig))
    client = OptimizerClient(wanted)
    job = client.get_job("search")
    assert (job.status, job.trial_config) == ("Complete", TrialConfig(TRIALS, PARALLEL))
    assert [trial.parameters for trial in job.trials] == [
        {"lr": str(number)} for number in range(TRIALS)
    ]
    best = client.get_best_results("search")
    assert best is not None
    assert best.parameters == {"lr": str(TRIALS - 1)}
    assert client.get_job_events("search")

    name = client.optimize(
        TrainJobTemplate(CustomTrainer(train), runtime=RUNTIME),
        trial_config=TrialConfig(2, 1),
        search_space={"lr": Search.loguniform(1e-5, 0.1)},
    )
    assert {each.name: each.status for each in client.list_jobs()} == {
        "search": "Complete",
        name: "Created",
    }
    client.delete_job(name)
    with pytest.raises(RuntimeError, match=f'optimizationjobs.* "{name}" not found'):
        client.get_job(name)


def train(lr: str) -> None:
    print(lr)  # noqa: T201 - what a training does here
