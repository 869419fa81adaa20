"""The client against a real API server."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest
from cluster.access import Access
from cluster.control_plane import ControlPlane
from own_api_server import own, restart

from trainway.json_types import Json
from trainway.kube import client as client_module
from trainway.kube.client import JSON_PATCH, Client, WatchEvent
from trainway.kube.connection import load_connection
from trainway.kube.errors import (
    AlreadyExists,
    Conflict,
    Gone,
    InvalidObject,
    ObjectNotFound,
    ServerUnavailable,
)
from trainway.kube.requests import Selection
from trainway.kube.resources import CLUSTER_QUEUES, CONFIG_MAPS, JOBS, NAMESPACES, PODS, SERVICES
from trainway.kube.testing import Forwarder, changed_kubeconfig


def run(cluster: Access, test: Callable[[Client], Awaitable[None]]) -> None:
    async def main() -> None:
        async with asyncio.timeout(180), Client(load_connection(cluster.kubeconfig)) as client:
            await test(client)

    asyncio.run(main())


def config_map(namespace: str, name: str = "c", **data: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": data,
    }


def test_an_object_from_its_creation_to_its_end(api_cluster: Access, namespace: str) -> None:
    async def test(client: Client) -> None:
        made = await client.create(CONFIG_MAPS, config_map(namespace, a="1"))
        assert await client.get(CONFIG_MAPS, "c", namespace) == made
        with pytest.raises(AlreadyExists, match=r'configmaps "c" already exists'):
            await client.create(CONFIG_MAPS, config_map(namespace))
        merged = await client.patch(CONFIG_MAPS, "c", namespace, {"data": {"b": "2"}})
        assert merged["data"] == {"a": "1", "b": "2"}
        operations = [{"op": "remove", "path": "/data/a"}]
        patched = await client.patch(CONFIG_MAPS, "c", namespace, operations, content=JSON_PATCH)
        assert patched["data"] == {"b": "2"}
        with pytest.raises(Conflict, match="has been modified"):
            await client.replace(CONFIG_MAPS, made | {"data": {}})
        replaced = await client.replace(CONFIG_MAPS, patched | {"data": {"c": "3"}})
        assert replaced["data"] == {"c": "3"}
        with pytest.raises(Conflict):
            await client.delete(CONFIG_MAPS, "c", namespace, uid="another")
        await client.delete(CONFIG_MAPS, "c", namespace, uid=made["metadata"]["uid"])
        with pytest.raises(ObjectNotFound, match=r'configmaps "c" not found') as caught:
            await client.get(CONFIG_MAPS, "c", namespace)
        assert (caught.value.status, caught.value.reason) == (404, "NotFound")
        assert caught.value.details["kind"] == "configmaps"

    run(api_cluster, test)


def test_a_dry_run_leaves_nothing(api_cluster: Access, namespace: str) -> None:
    async def test(client: Client) -> None:
        made = await client.create(CONFIG_MAPS, config_map(namespace), dry_run=True)
        assert made["metadata"]["uid"]
        applied = config_map(namespace, name="d", a="1")
        await client.apply(applied, field_manager="me", dry_run=True)
        names = [
            obj["metadata"]["name"] for obj in (await client.list(CONFIG_MAPS, namespace)).items
        ]
        assert not {"c", "d"} & set(names)

    run(api_cluster, test)


def test_what_breaks_the_schema_is_refused(api_cluster: Access, namespace: str) -> None:
    async def test(client: Client) -> None:
        with pytest.raises(InvalidObject) as caught:
            await client.create(
                SERVICES,
                {"metadata": {"name": "s", "namespace": namespace}, "spec": {"type": "Odd"}},
            )
        fields = {cause["field"] for cause in caught.value.details["causes"]}
        assert "spec.type" in fields

    run(api_cluster, test)


def test_fields_of_another_are_taken_only_by_force(api_cluster: Access, namespace: str) -> None:
    async def test(client: Client) -> None:
        ours, theirs = config_map(namespace, a="ours"), config_map(namespace, a="theirs")
        await client.apply(ours, field_manager="us")
        await client.apply(ours, field_manager="us")
        with pytest.raises(Conflict, match=r'conflict with "us": .data.a') as caught:
            await client.apply(theirs, field_manager="them", force=False)
        assert caught.value.details["causes"][0]["field"] == ".data.a"
        forced = await client.apply(theirs, field_manager="them")
        assert forced["data"] == {"a": "theirs"}

    run(api_cluster, test)


def test_long_lists_come_in_pages(
    api_cluster: Access, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(client: Client) -> None:
        names = [f"c-{number:02}" for number in range(20)]
        for name in names:
            await client.create(CONFIG_MAPS, config_map(namespace, name, a="1"))
        monkeypatch.setattr(client_module, "PAGE", 7)
        before = client.requests
        listing = await client.list(CONFIG_MAPS, namespace, field_selector="metadata.name!=c-05")
        assert client.requests - before == 3
        listed = [obj["metadata"]["name"] for obj in listing.items]
        assert [name for name in listed if name.startswith("c-")] == names[:5] + names[6:]
        assert {obj["kind"] for obj in listing.items} == {"ConfigMap"}
        assert int(listing.resource_version) > 0
        small = await client.list(
            CONFIG_MAPS, namespace, field_selector="metadata.name=c-03", metadata_only=True
        )
        assert [obj.keys() for obj in small.items] == [{"apiVersion", "kind", "metadata"}]
        assert small.items[0]["apiVersion"] == "v1"

    run(api_cluster, test)


def test_which_resources_are_served(api_cluster: Access) -> None:
    async def test(client: Client) -> None:
        assert await client.serves(PODS)
        assert await client.serves(JOBS)
        assert not await client.serves(CLUSTER_QUEUES)

    run(api_cluster, test)


@asynccontextmanager
async def watching(
    client: Client, namespace: str, version: str, metadata_only: bool = False
) -> AsyncIterator[AsyncIterator[WatchEvent]]:
    selection = Selection("", "metadata.name!=kube-root-ca.crt", metadata_only)
    async with aclosing(
        client.watch(CONFIG_MAPS, namespace, resource_version=version, selection=selection)
    ) as events:
        yield events


@pytest.mark.parametrize("metadata_only", [False, True])
def test_a_watch_tells_changes_however_large(
    api_cluster: Access, namespace: str, metadata_only: bool
) -> None:
    async def test(client: Client) -> None:
        version = (await client.list(CONFIG_MAPS, namespace)).resource_version
        text = "x" * 700_000
        async with watching(client, namespace, version, metadata_only) as events:
            await client.create(CONFIG_MAPS, config_map(namespace, large=text))
            await client.patch(CONFIG_MAPS, "c", namespace, {"data": {"large": None, "a": "1"}})
            await client.delete(CONFIG_MAPS, "c", namespace)
            seen = [await anext(events) for _ in range(3)]
        assert [event.type for event in seen] == ["ADDED", "MODIFIED", "DELETED"]
        data = [event.object.get("data") for event in seen]
        assert data == ([None] * 3 if metadata_only else [{"large": text}, {"a": "1"}, {"a": "1"}])

    run(api_cluster, test)


def test_it_works_on_after_a_restart_which_forgets_old_versions(
    api_cluster: Access, namespace: str
) -> None:
    cluster = own(api_cluster)

    async def test(client: Client) -> None:
        before = (await client.list(CONFIG_MAPS, namespace)).resource_version
        await client.create(CONFIG_MAPS, config_map(namespace, a="1"))
        cluster.forget_old_versions()
        starting = asyncio.create_task(restart(cluster))
        await asyncio.sleep(0)
        creating = asyncio.create_task(client.create(CONFIG_MAPS, config_map(namespace, "d")))
        await starting
        try:  # it was never sent to a dead server, so it was tried again
            await creating
        except ServerUnavailable:  # in vain where the server took long
            await client.create(CONFIG_MAPS, config_map(namespace, "d"))
        assert (await client.get(CONFIG_MAPS, "c", namespace))["data"] == {"a": "1"}
        with pytest.raises(Gone, match=r"too old|compacted"):
            async with watching(client, namespace, before) as events:
                await anext(events)

    run(cluster, test)


def test_cancelled_requests_do_not_mix_up_answers(api_cluster: Access, namespace: str) -> None:
    async def test(client: Client) -> None:
        names = [f"c{number}" for number in range(10)]
        for name in names:
            await client.create(CONFIG_MAPS, config_map(namespace, name, me=name))
        chance = random.Random(1)  # noqa: S311 - not for secrets
        right = cancelled = 0
        longest = 0.03

        async def read(name: str) -> None:
            nonlocal right, cancelled
            try:
                async with asyncio.timeout(chance.uniform(0.0005, longest)):
                    obj = await client.get(CONFIG_MAPS, name, namespace)
                assert obj["data"] == {"me": name}
                right += 1
            except TimeoutError:
                cancelled += 1

        while min(right, cancelled) < 50:
            await asyncio.gather(*(read(name) for name in names))
            longest *= 1.2 if right < cancelled else 0.9  # about as long as an answer takes here

    run(api_cluster, test)


def test_nobody_listens(tmp_path: Path, api_cluster: Access) -> None:
    async def main() -> None:
        forwarder = Forwarder(api_cluster.server)
        async with forwarder.running():
            url = forwarder.url
        path = changed_kubeconfig(api_cluster.kubeconfig, tmp_path / "k", cluster={"server": url})
        async with Client(load_connection(path), chance=lambda: 0.0) as client:
            with pytest.raises(ServerUnavailable, match=f"no answer from {url}: "):
                await client.get(PODS, "p", "default")

    asyncio.run(main())


def test_a_post_is_not_sent_twice_over_a_broken_connection(
    tmp_path: Path, api_cluster: Access, namespace: str
) -> None:
    async def main() -> None:
        forwarder = Forwarder(api_cluster.server)
        async with forwarder.running():
            path = changed_kubeconfig(
                api_cluster.kubeconfig, tmp_path / "k", cluster={"server": forwarder.url}
            )
            async with Client(load_connection(path)) as client:
                await client.get(NAMESPACES, namespace)
                forwarder.silence()  # the answer will be lost
                creating = asyncio.create_task(client.create(CONFIG_MAPS, config_map(namespace)))
                await asyncio.sleep(0.2)
                before = client.requests
                forwarder.cut()
                with pytest.raises(ServerUnavailable):
                    await creating
                assert client.requests == before
                forwarder.silence()
                applying = asyncio.create_task(
                    client.apply(config_map(namespace, "d"), field_manager="me")
                )
                await asyncio.sleep(0.2)
                forwarder.cut()
                assert (await applying)["metadata"]["name"] == "d"

    asyncio.run(main())


def test_it_waits_as_a_busy_api_server_asks_it_to(api_cluster: Access) -> None:
    own(api_cluster)
    flags = ["--enable-priority-and-fairness=false", "--max-requests-inflight=1"]

    async def main(kubeconfig: Path) -> None:
        async with asyncio.timeout(180), Client(load_connection(kubeconfig)) as client:
            asked = 0
            while client.requests == asked:  # until one came at a bad moment
                await asyncio.gather(*(client.list(CONFIG_MAPS) for _ in range(16)))
                asked += 16

    with ControlPlane(flags=flags) as busy:
        # an administrator would not have to wait
        asyncio.run(main(busy.kubeconfig_of("controller-manager")))
