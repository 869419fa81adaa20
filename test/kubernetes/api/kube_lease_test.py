"""Leader election against a real API server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from cluster.access import Access

from trainway.kube import lease as lease_module
from trainway.kube.client import Client
from trainway.kube.connection import load_connection
from trainway.kube.lease import LeaderElection, LeadershipLost
from trainway.kube.resources import LEASES
from trainway.kube.testing import Forwarder, changed_kubeconfig

PATIENCE_S = 120.0
RETRY_S = 0.3


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that is busy elsewhere for a moment must not keep a lease from being released."""
    monkeypatch.setattr(lease_module, "_SHORTEST_RELEASE_S", PATIENCE_S)


@asynccontextmanager
async def connected(cluster: Access) -> AsyncIterator[Client]:
    async with asyncio.timeout(PATIENCE_S), Client(load_connection(cluster.kubeconfig)) as client:
        yield client


def candidate(
    client: Client, namespace: str, identity: str, renew_s: float = 30.0
) -> LeaderElection:
    """It loses a lease that it could not renew for `renew_s`; nothing here lasts as long."""
    return LeaderElection(
        client,
        namespace,
        "operator",
        identity,
        lease_seconds=2 * renew_s,
        renew_seconds=renew_s,
        retry_seconds=RETRY_S,
    )


class Reign:
    """What a leader does: it remembers whether it is at it."""

    def __init__(self, ends: bool = False) -> None:
        self.began = asyncio.Event()
        self.is_on = False
        self._ends = ends

    async def __call__(self) -> str:
        self.is_on = True
        self.began.set()
        try:
            if not self._ends:
                await asyncio.Event().wait()
            return "done"
        finally:
            self.is_on = False


async def stopped(task: asyncio.Task[str]) -> None:
    task.cancel()
    await asyncio.wait({task})


def test_it_leads_and_releases(api_cluster: Access, namespace: str) -> None:
    async def main() -> None:
        async with connected(api_cluster) as client:
            election = candidate(client, namespace, "a")
            assert await election.lead(Reign(ends=True)) == "done"
            assert not election.is_leader
            spec = (await client.get(LEASES, "operator", namespace))["spec"]
            assert spec["holderIdentity"] == ""
            assert spec["leaseDurationSeconds"] == 1
            again = candidate(client, namespace, "b")
            reign = Reign()
            leading = asyncio.create_task(again.lead(reign))
            await reign.began.wait()
            spec = (await client.get(LEASES, "operator", namespace))["spec"]
            assert (spec["holderIdentity"], spec["leaseTransitions"]) == ("b", 1)
            await stopped(leading)

    asyncio.run(main())


def test_an_error_of_the_leader_is_the_callers(api_cluster: Access, namespace: str) -> None:
    async def fail() -> None:
        raise ValueError("mine")

    async def main() -> None:
        async with connected(api_cluster) as client:
            with pytest.raises(ValueError, match="mine"):
                await candidate(client, namespace, "a").lead(fail)
            lease = await client.get(LEASES, "operator", namespace)
            assert lease["spec"]["holderIdentity"] == ""

    asyncio.run(main())


def test_one_at_a_time_and_the_next_when_it_ends(api_cluster: Access, namespace: str) -> None:
    async def main() -> None:
        async with connected(api_cluster) as client:
            reigns = {name: Reign() for name in "abc"}
            tasks = {
                name: asyncio.create_task(candidate(client, namespace, name).lead(reign))
                for name, reign in reigns.items()
            }
            while tasks:
                waits = [asyncio.create_task(reigns[name].began.wait()) for name in tasks]
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                for wait in waits:
                    wait.cancel()
                await asyncio.sleep(1.5)  # time for others to go wrong
                leaders = [name for name in tasks if reigns[name].is_on]
                assert len(leaders) == 1
                await stopped(tasks.pop(leaders[0]))
            lease = await client.get(LEASES, "operator", namespace)
            assert lease["spec"]["leaseTransitions"] == 2

    asyncio.run(main())


def test_a_leader_that_is_cut_off_gives_up_before_another_leads(
    api_cluster: Access, namespace: str, tmp_path: Path
) -> None:
    async def main() -> None:
        async with (
            asyncio.timeout(PATIENCE_S),
            Client(load_connection(api_cluster.kubeconfig)) as client,
            Forwarder(api_cluster.server).running() as forwarder,
        ):
            path = changed_kubeconfig(
                api_cluster.kubeconfig, tmp_path / "k", cluster={"server": forwarder.url}
            )
            async with Client(load_connection(path)) as unlucky:
                first, second = Reign(), Reign()
                losing = asyncio.create_task(candidate(unlucky, namespace, "a", 3).lead(first))
                await first.began.wait()
                waiting = asyncio.create_task(candidate(client, namespace, "b", 3).lead(second))
                await asyncio.sleep(0.5)
                forwarder.close()
                with pytest.raises(LeadershipLost, match="was not renewed for 3 s"):
                    await losing
                assert not first.is_on
                assert not second.is_on
                await second.began.wait()
                await stopped(waiting)

    asyncio.run(main())


def test_a_lease_that_another_takes_is_lost_at_once(api_cluster: Access, namespace: str) -> None:
    async def main() -> None:
        async with connected(api_cluster) as client:
            reign = Reign()
            leading = asyncio.create_task(candidate(client, namespace, "a").lead(reign))
            await reign.began.wait()
            theft = {"spec": {"holderIdentity": "thief"}}
            await client.patch(LEASES, "operator", namespace, theft)
            with pytest.raises(LeadershipLost, match="thief holds the lease operator"):
                await leading
            assert not reign.is_on
            lease = await client.get(LEASES, "operator", namespace)
            assert lease["spec"]["holderIdentity"] == "thief"

    asyncio.run(main())


def test_a_lease_that_somebody_deletes_is_made_again(api_cluster: Access, namespace: str) -> None:
    async def main() -> None:
        async with connected(api_cluster) as client:
            reign = Reign()
            leading = asyncio.create_task(candidate(client, namespace, "a").lead(reign))
            await reign.began.wait()
            await client.delete(LEASES, "operator", namespace)
            holder = ""
            while holder != "a":
                await asyncio.sleep(0.1)
                leases = await client.list(LEASES, namespace)
                holder = next((lease["spec"]["holderIdentity"] for lease in leases.items), "")
            assert reign.is_on
            await stopped(leading)

    asyncio.run(main())
