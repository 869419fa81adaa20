import asyncio
import gc
from typing import Any

import pytest

from trainway.compiler.testing import role, runtime
from trainway.kube.client import Client
from trainway.kube.connection import Connection, Endpoint
from trainway.kube.credentials import Credentials
from trainway.kube.errors import ObjectNotFound
from trainway.kube.resources import Json, Resource
from trainway.operator.trainjobs.build_error import BuildError
from trainway.operator.trainjobs.runtime_snapshot import runtime_text
from trainway.operator.trainjobs.runtime_source import RuntimeSource

REF = {"name": "some-runtime"}


class NoCredentials:
    """Nobody is asked in these tests."""

    async def fetch(self) -> Credentials:
        raise AssertionError


class EmptyCluster(Client):
    """Has nothing, and takes a moment to say so."""

    async def get(self, resource: Resource, name: str, namespace: str = "") -> Json:
        await asyncio.sleep(0)
        raise ObjectNotFound(f"{namespace}/{resource.plural}/{name} not found")


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
        job = {"metadata": {"name": "a", "namespace": "n"}, "spec": {"runtimeRef": REF}}
        with pytest.raises(BuildError, match="not found"):
            await source.live(job)
        reader = asyncio.create_task(source.live(job))
        await asyncio.sleep(0)
        reader.cancel()
        while len(asyncio.all_tasks()) > 1:
            await asyncio.sleep(0)

    asyncio.run(story())
    gc.collect()
    assert complaints == []
