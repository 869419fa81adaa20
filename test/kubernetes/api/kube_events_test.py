"""Events against a real API server, and without one."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cluster.access import Access

from trainway.json_types import Json
from trainway.kube import events as events_module
from trainway.kube.client import Client
from trainway.kube.connection import load_connection
from trainway.kube.events import EventRecorder
from trainway.kube.resources import CONFIG_MAPS, EVENTS
from trainway.kube.testing import Forwarder, changed_kubeconfig


async def made(client: Client, namespace: str) -> Json:
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    return await client.create(CONFIG_MAPS, obj, namespace)


async def events_of(client: Client, namespace: str) -> list[Json]:
    listing = await client.list(
        EVENTS, namespace, field_selector="involvedObject.name=c,involvedObject.kind=ConfigMap"
    )
    return sorted(listing.items, key=lambda event: str(event["metadata"]["name"]))


def test_the_same_event_counts_up(api_cluster: Access, namespace: str) -> None:
    now = datetime(2026, 11, 15, 8, 0, tzinfo=UTC)

    async def main() -> None:
        nonlocal now
        async with Client(load_connection(api_cluster.kubeconfig)) as client:
            obj = await made(client, namespace)
            async with EventRecorder(client, "trainer", lambda: now) as recorder:
                recorder.record(obj, "Normal", "Started", "it runs")
                await recorder.flush()
                for _ in range(3):
                    now += timedelta(minutes=5)
                    recorder.record(obj, "Normal", "Started", "it runs")
                recorder.record(obj, "Warning", "Failed", "it fell")
            first, second = await events_of(client, namespace)
            assert (first["type"], first["reason"], first["count"]) == ("Normal", "Started", 4)
            assert first["firstTimestamp"] == "2026-11-15T08:00:00Z"
            assert first["lastTimestamp"] == "2026-11-15T08:15:00Z"
            assert first["involvedObject"]["uid"] == obj["metadata"]["uid"]
            assert (second["type"], second["message"], second["count"]) == ("Warning", "it fell", 1)

    asyncio.run(main())
    described = api_cluster.kubectl("describe", "configmap", "c", "-n", namespace).stdout
    assert "(x4 over" in described
    assert "trainer" in described


def test_after_a_while_it_is_a_new_event(api_cluster: Access, namespace: str) -> None:
    now = datetime(2026, 11, 15, 8, 0, tzinfo=UTC)

    async def main() -> None:
        nonlocal now
        async with Client(load_connection(api_cluster.kubeconfig)) as client:
            obj = await made(client, namespace)
            async with EventRecorder(client, "trainer", lambda: now) as recorder:
                recorder.record(obj, "Normal", "Started", "it runs")
                now += timedelta(minutes=10)
                recorder.record(obj, "Normal", "Started", "it runs")
            assert [event["count"] for event in await events_of(client, namespace)] == [1, 1]

    asyncio.run(main())


def test_an_event_that_was_removed_is_made_again(api_cluster: Access, namespace: str) -> None:
    async def main() -> None:
        async with Client(load_connection(api_cluster.kubeconfig)) as client:
            obj = await made(client, namespace)
            async with EventRecorder(client, "trainer") as recorder:
                recorder.record(obj, "Normal", "Started", "it runs")
                await recorder.flush()
                (event,) = await events_of(client, namespace)
                await client.delete(EVENTS, event["metadata"]["name"], namespace)
                recorder.record(obj, "Normal", "Started", "it runs")
            assert [event["count"] for event in await events_of(client, namespace)] == [2]

    asyncio.run(main())


def test_recording_never_waits_nor_fails(
    api_cluster: Access,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(events_module, "_FLUSH_S", 0.2)
    monkeypatch.setattr(events_module, "_MOST_WAITING", 10)

    async def main() -> None:
        async with Forwarder(api_cluster.server).running() as forwarder:
            url = forwarder.url
        path = changed_kubeconfig(api_cluster.kubeconfig, tmp_path / "k", cluster={"server": url})
        obj = {"kind": "ConfigMap", "metadata": {"name": "c", "namespace": "default"}}
        async with (
            Client(load_connection(path)) as client,
            EventRecorder(client, "trainer") as recorder,
        ):
            for number in range(50):
                recorder.record(obj, "Normal", "Tried", f"number {number}")
            recorder.record({}, "Normal", "Tried", "no object at all")
            assert recorder.dropped == 40

    asyncio.run(main())
    assert "1 events lost so far: too many events are waiting" in caplog.text
    assert "32 events lost so far" in caplog.text
    assert "cannot record Tried: no object at all" in caplog.text
    assert "events were not sent in time" in caplog.text
