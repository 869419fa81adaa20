"""Informers against a real API server, over connections that break, fall silent, and die."""

import asyncio
import gc
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from cluster.access import Access
from own_api_server import own, restart

from trainway.json_types import Json
from trainway.kube import client as client_module
from trainway.kube.client import Client
from trainway.kube.connection import load_connection
from trainway.kube.informer import Change, Informer
from trainway.kube.informers import Informers
from trainway.kube.resources import CLUSTER_QUEUES, CONFIG_MAPS, SECRETS
from trainway.kube.testing import Forwarder, changed_kubeconfig

LABEL = "mine=yes"


def config_map(namespace: str, name: str, **data: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, "labels": {"mine": "yes"}},
        "data": data,
    }


@pytest.fixture(autouse=True)
def no_errors(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """A handler that fails is only logged, also one that finds a mistake."""
    yield
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


class Heard:
    """What an informer told, and a check that it made sense."""

    def __init__(self) -> None:
        self.changes: list[tuple[str, str]] = []
        self.objects: dict[str, Json] = {}
        self._is_new = asyncio.Event()

    def __call__(self, change: Change) -> None:
        name = change.key.rpartition("/")[2]
        assert (name in self.objects) == (change.kind != "added"), change
        if change.new is None:
            assert change.old == self.objects.pop(name)
        else:
            assert change.old == self.objects.get(name)
            self.objects[name] = change.new
        self.changes.append((change.kind, name))
        self._is_new.set()

    async def until(self, is_reached: Callable[[], bool]) -> None:
        while not is_reached():
            self._is_new.clear()
            await self._is_new.wait()

    async def until_known(self, count: int) -> None:
        await self.until(lambda: len(self.objects) == count)

    def data(self) -> dict[str, str]:
        return {name: obj["data"]["v"] for name, obj in self.objects.items()}


@asynccontextmanager
async def running(informer: Informer | Informers) -> AsyncIterator[None]:
    task = asyncio.create_task(informer.run())
    try:
        async with asyncio.timeout(180):
            await informer.synced()
            yield
    finally:
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled(), task.exception()


@asynccontextmanager
async def forwarded(cluster: Access, folder: Path) -> AsyncIterator[tuple[Forwarder, Client]]:
    """A client that reaches the API server by a way that can be cut."""
    async with Forwarder(cluster.server).running() as forwarder:
        path = changed_kubeconfig(
            cluster.kubeconfig, folder / "kubeconfig", cluster={"server": forwarder.url}
        )
        async with Client(load_connection(path)) as client:
            yield forwarder, client


def test_it_lists_in_pages_and_then_follows(
    api_cluster: Access, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "PAGE", 2)

    async def main() -> None:
        async with Client(load_connection(api_cluster.kubeconfig)) as client:
            for name in "abc":
                await client.create(CONFIG_MAPS, config_map(namespace, name, v="1"))
            heard = Heard()
            informer = Informer(
                client,
                CONFIG_MAPS,
                namespaces=[namespace],
                label_selector=LABEL,
                indexers={"v": lambda obj: [obj["data"]["v"]]},
            )
            informer.add_handler(heard)
            async with running(informer):
                assert heard.data() == {"a": "1", "b": "1", "c": "1"}
                obj = informer.store.get(f"{namespace}/a")
                assert obj is not None
                assert (obj["kind"], obj["apiVersion"]) == ("ConfigMap", "v1")
                assert "managedFields" not in obj["metadata"]
                await client.patch(CONFIG_MAPS, "a", namespace, {"data": {"v": "2"}})
                await client.delete(CONFIG_MAPS, "b", namespace)
                other = {"metadata": {"labels": {"mine": "no"}}}
                await client.patch(CONFIG_MAPS, "c", namespace, other)
                await heard.until(lambda: len(heard.changes) == 6)
                assert heard.data() == {"a": "2"}
                assert informer.store.keys_by_index("v", "2") == [f"{namespace}/a"]
                assert informer.lists == 1
                assert informer.age() < 300

    asyncio.run(main())


def test_metadata_only_and_some_namespaces(api_cluster: Access, namespace: str) -> None:
    async def main() -> None:
        async with Client(load_connection(api_cluster.kubeconfig)) as client:
            await client.create(CONFIG_MAPS, config_map(namespace, "a", v="1"))
            informers = Informers(client, [namespace, "no-such-namespace"])
            informer = informers.of(CONFIG_MAPS, label_selector=LABEL, metadata_only=True)
            informers.of(SECRETS, metadata_only=True)
            heard = Heard()
            informer.add_handler(heard)
            async with running(informers):
                await client.create(CONFIG_MAPS, config_map(namespace, "b", v="1"))
                await heard.until(lambda: len(heard.objects) == 2)
                for obj in heard.objects.values():
                    assert obj.keys() == {"apiVersion", "kind", "metadata"}
                    assert obj["kind"] == "ConfigMap"

    asyncio.run(main())


def test_a_broken_watch_goes_on_where_it_was(
    api_cluster: Access, namespace: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)

    async def main() -> None:
        async with (
            Client(load_connection(api_cluster.kubeconfig)) as other,
            forwarded(api_cluster, tmp_path) as (forwarder, client),
        ):
            heard = Heard()
            informer = Informer(client, CONFIG_MAPS, namespaces=[namespace], label_selector=LABEL)
            informer.add_handler(heard)
            async with running(informer):
                for number in range(10):
                    await other.create(CONFIG_MAPS, config_map(namespace, f"c{number}", v="1"))
                    await heard.until_known(number + 1)
                    forwarder.cut()
                    changed = {"data": {"v": "2"}}
                    await other.patch(CONFIG_MAPS, f"c{number}", namespace, changed)
                await heard.until(lambda: set(heard.data().values()) == {"2"})
            assert informer.lists == 1, caplog.text
            expected = [(kind, f"c{n}") for n in range(10) for kind in ("added", "updated")]
            assert sorted(heard.changes) == sorted(expected)

    asyncio.run(main())


def test_an_informer_that_is_stopped_while_it_starts_leaves_no_connection(
    api_cluster: Access, namespace: str
) -> None:
    async def main(pause: float) -> None:
        async with Client(load_connection(api_cluster.kubeconfig)) as client:
            informer = Informer(client, CONFIG_MAPS, namespaces=[namespace])
            async with running(informer):
                await asyncio.sleep(pause)

    for number in range(20):
        asyncio.run(main(number * 0.001))
        gc.collect()  # what is left would be told as a ResourceWarning now


def test_a_silent_watch_is_noticed(
    api_cluster: Access, namespace: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        async with (
            Client(load_connection(api_cluster.kubeconfig)) as other,
            forwarded(api_cluster, tmp_path) as (forwarder, client),
        ):
            heard = Heard()
            informer = Informer(
                client,
                CONFIG_MAPS,
                namespaces=[namespace],
                label_selector=LABEL,
                silence_seconds=2.0,
            )
            informer.add_handler(heard)
            async with running(informer):
                await other.create(CONFIG_MAPS, config_map(namespace, "a", v="1"))
                await heard.until(lambda: len(heard.objects) == 1)
                forwarder.silence()
                await other.create(CONFIG_MAPS, config_map(namespace, "b", v="1"))
                await heard.until(lambda: len(heard.objects) == 2)
                before = forwarder.accepted
                while forwarder.accepted < before + 2:  # a quiet watch is no dead one
                    await asyncio.sleep(0.05)
                while informer.age() >= 3:  # each time it watches anew it hears from the server
                    await asyncio.sleep(0.05)
            assert caplog.records == []
            assert heard.changes == [("added", "a"), ("added", "b")]
            assert informer.lists == 1

    asyncio.run(main())


def test_nothing_is_lost_or_doubled_when_the_api_server_dies(
    api_cluster: Access, namespace: str
) -> None:
    cluster = own(api_cluster)

    async def main() -> None:
        async with Client(load_connection(cluster.kubeconfig)) as client:
            heard = Heard()
            informer = Informer(client, CONFIG_MAPS, namespaces=[namespace], label_selector=LABEL)
            informer.add_handler(heard)
            for number in range(20):
                await client.create(CONFIG_MAPS, config_map(namespace, f"c{number}", v="1"))
            async with running(informer):
                await client.delete(CONFIG_MAPS, "c0", namespace)
                await restart(cluster)
                await client.delete(CONFIG_MAPS, "c1", namespace)
                await client.patch(CONFIG_MAPS, "c2", namespace, {"data": {"v": "2"}})
                await client.create(CONFIG_MAPS, config_map(namespace, "new", v="1"))
                expected = {f"c{number}": "1" for number in range(3, 20)} | {"c2": "2", "new": "1"}
                await heard.until(lambda: heard.data() == expected)
            kinds = [kind for kind, _ in heard.changes]
            assert [kinds.count(kind) for kind in ("added", "updated", "deleted")] == [21, 1, 2]

    asyncio.run(main())


def test_what_vanishes_unseen_is_told_by_the_next_list(
    api_cluster: Access, namespace: str, tmp_path: Path
) -> None:
    """A version that the API server has forgotten (410) means a new list."""
    cluster = own(api_cluster)

    async def main() -> None:
        async with (
            Client(load_connection(cluster.kubeconfig)) as other,
            forwarded(cluster, tmp_path) as (forwarder, client),
        ):
            heard = Heard()
            informer = Informer(client, CONFIG_MAPS, namespaces=[namespace], label_selector=LABEL)
            informer.add_handler(heard)
            for name in "abc":
                await other.create(CONFIG_MAPS, config_map(namespace, name, v="1"))
            async with running(informer):
                await other.patch(CONFIG_MAPS, "c", namespace, {"data": {"v": "3"}})
                await heard.until(lambda: heard.data()["c"] == "3")  # the watch is on
                forwarder.silence()
                await other.delete(CONFIG_MAPS, "a", namespace)
                await other.patch(CONFIG_MAPS, "b", namespace, {"data": {"v": "2"}})
                cluster.forget_old_versions()
                await restart(cluster)
                forwarder.cut()
                await heard.until(lambda: heard.data() == {"b": "2", "c": "3"})
            assert informer.lists == 2
            assert heard.changes[4:] == [("updated", "b"), ("deleted", "a")]

    asyncio.run(main())


def test_a_resource_that_is_not_served_is_asked_for_again(
    api_cluster: Access, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        async with Client(load_connection(api_cluster.kubeconfig)) as client:
            informer = Informer(client, CLUSTER_QUEUES)
            task = asyncio.create_task(informer.run())
            async with asyncio.timeout(60):
                while client.requests < 3:
                    await asyncio.sleep(0.05)
            assert not informer.has_synced
            task.cancel()
            await asyncio.wait({task})
            assert task.cancelled()

    with caplog.at_level(logging.WARNING):
        asyncio.run(main())
    assert len(caplog.records) == 1
    assert "clusterqueues.kueue.x-k8s.io: " in caplog.text
