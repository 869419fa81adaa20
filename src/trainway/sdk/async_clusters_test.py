import asyncio
import inspect

import pytest

from trainway.errors import NotFoundError
from trainway.sdk import AsyncClient, Client
from trainway.sdk.async_clusters import AsyncCluster
from trainway.sdk.clusters import Cluster
from trainway.sdk.testing import FakeServer


def public(kind: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(kind) if not name.startswith("_")}


def test_clusters_can_be_awaited(fake: FakeServer) -> None:
    async def main() -> None:
        client = AsyncClient()
        cluster, job = await client.launch("echo 1", cluster="dev", cpus=2, idle_minutes=5)
        assert (cluster.name, cluster.infra, await cluster.status()) == ("dev", "local", "UP")
        second = await cluster.exec("echo 2", env={"A": "b"})
        assert [item.id for item in await cluster.queue()] == [second.id, job.id]
        found = await cluster.job(1)
        assert found is not None
        assert (found.id, await cluster.job(9)) == (job.id, None)
        await cluster.autostop(3, down=True)
        assert cluster.cluster.data["spec"]["autostop"] == {"idleMinutes": 3, "down": True}
        await cluster.stop()
        assert await cluster.status() == "STOPPED"
        await cluster.start()
        assert await (await client.cluster("dev")).status() == "UP"
        assert [item.name for item in await client.clusters()] == ["dev"]
        await cluster.down()
        assert await client.clusters(refresh=True) == []
        with pytest.raises(NotFoundError):
            await client.cluster("dev")

    asyncio.run(main())
    assert fake.requests[0][2]["idle_minutes"] == 5


def test_nothing_is_left_out() -> None:
    assert public(Cluster) - public(AsyncCluster) == set()
    assert public(Client) - public(AsyncClient) == {"address"}
