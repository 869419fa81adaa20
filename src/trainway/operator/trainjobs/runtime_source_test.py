import asyncio
import gc
from typing import Any

import pytest

from trainway.compiler.testing import role, runtime
from trainway.json_types import Json
from trainway.kube.client import Client
from trainway.kube.connection import Connection, Endpoint
from trainway.kube.credentials import Credentials
from trainway.kube.errors import ObjectNotFound
from trainway.kube.resources import CLUSTER_TRAINING_RUNTIMES, Resource
from trainway.operator.trainjobs import runtime_source
from trainway.operator.trainjobs.build_error import BuildError
from trainway.operator.trainjobs.runtime_snapshot import runtime_text
from trainway.operator.trainjobs.runtime_source import RuntimeSource

REF = {"name": "some-runtime"}
JOB = {"metadata": {"name": "a", "namespace": "n"}, "spec": {"runtimeRef": REF}}
PATIENCE_S = 60.0


class NoCredentials:
    """Nobody is asked in these tests."""

    async def fetch(self) -> Credentials:
        raise AssertionError


class EmptyCluster(Client):
    """Has nothing, and takes a moment to say so."""

    async def get(self, resource: Resource, name: str, namespace: str = "") -> Json:
        await asyncio.sleep(0)
        raise ObjectNotFound(f"{namespace}/{resource.plural}/{name} not found")


class SlowCluster(Client):
    """Has one runtime, which changes with every read; a read ends when it is let."""

    def __init__(self) -> None:
        super().__init__(CONNECTION)
        self.reads: list[asyncio.Future[None]] = []

    async def get(self, resource: Resource, name: str, namespace: str = "") -> Json:
        assert (resource, name, namespace) == (CLUSTER_TRAINING_RUNTIMES, REF["name"], "")
        self.reads.append(asyncio.get_running_loop().create_future())
        number = len(self.reads)
        await self.reads[-1]
        found = runtime({"torch": {}}, role(image=f"image:{number}"))
        metadata = {**found["metadata"], "uid": "u", "resourceVersion": str(number)}
        return {**found, "metadata": metadata}

    async def asked(self, count: int) -> None:
        """Wait until so many reads have begun."""
        async with asyncio.timeout(PATIENCE_S):
            while len(self.reads) < count:
                await asyncio.sleep(0.001)


CONNECTION = Connection(Endpoint("https://nowhere"), NoCredentials())


@pytest.fixture
def source() -> RuntimeSource:
    return RuntimeSource(Client(CONNECTION))


def test_jobs_with_the_same_snapshot_share_one_runtime(source: RuntimeSource) -> None:
    text = runtime_text(runtime({"torch": {}}))
    first = source.stored(text, REF)
    assert source.stored(text, REF) is first
    assert first.text == text
    other = source.stored(runtime_text(runtime({"torch": {}}, role(image="new:1"))), REF)
    assert other.runtime != first.runtime


def test_a_snapshot_that_one_job_may_use_another_may_not(source: RuntimeSource) -> None:
    text = runtime_text(runtime({"torch": {}}))
    source.stored(text, REF)
    with pytest.raises(BuildError, match="the snapshot refers to the wrong runtime"):
        source.stored(text, {"name": "other-runtime"})
    with pytest.raises(BuildError, match="the snapshot refers to the wrong runtime"):
        source.stored(text, {**REF, "kind": "TrainingRuntime"})


def test_a_read_that_fails_when_nobody_waits_for_it_any_more_is_no_complaint() -> None:
    complaints: list[dict[str, Any]] = []

    async def story() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, context: complaints.append(context))
        source = RuntimeSource(EmptyCluster(CONNECTION))
        with pytest.raises(BuildError, match="not found"):
            await source.live(JOB)
        reader = asyncio.create_task(source.live(JOB))
        await asyncio.sleep(0)
        reader.cancel()
        while len(asyncio.all_tasks()) > 1:
            await asyncio.sleep(0.001)

    asyncio.run(story())
    gc.collect()
    assert complaints == []


def test_who_asks_during_a_read_shares_the_next_one() -> None:
    async def story() -> None:
        cluster = SlowCluster()
        source = RuntimeSource(cluster)
        first = asyncio.create_task(source.live(JOB))
        await cluster.asked(1)
        others = [asyncio.create_task(source.live(JOB)) for _ in range(3)]
        await asyncio.sleep(2 * runtime_source._APART_S)
        assert len(cluster.reads) == 1
        cluster.reads[0].set_result(None)
        assert "image:1" in (await first).text
        await cluster.asked(2)
        cluster.reads[1].set_result(None)
        assert {"image:2" in found.text for found in await asyncio.gather(*others)} == {True}
        assert len(cluster.reads) == 2

    asyncio.run(story())


def test_a_read_that_hangs_does_not_hold_up_others_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runtime_source, "_LONGEST_TURN_S", 0.01)

    async def story() -> None:
        cluster = SlowCluster()
        source = RuntimeSource(cluster)
        hanging = asyncio.create_task(source.live(JOB))
        await cluster.asked(1)
        other = asyncio.create_task(source.live(JOB))
        await cluster.asked(2)
        cluster.reads[1].set_result(None)
        assert "image:2" in (await other).text
        cluster.reads[0].set_result(None)
        assert "image:1" in (await hanging).text

    asyncio.run(story())
