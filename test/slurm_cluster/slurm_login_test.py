"""A cluster whose login node is another host, reached with a real SSH."""

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from environments import unavailable
from switch import UnavailableError as NoHosts

from slurm_cluster import SlurmCluster, without_slurm
from ssh_hosts import SshHosts
from trainway.backends.agent_socket import AgentError
from trainway.backends.slurm.testing_slurm import RelayServer, is_type
from trainway.errors import UnavailableError

pytestmark = pytest.mark.xdist_group("slurm")

Json = dict[str, Any]

END = """echo '{"seq":0,"type":"end","succeeded":true,"reason":"","message":""}' > journal.jsonl"""


class Site:
    """A cluster, and the host from which it is used."""

    def __init__(self, cluster: SlurmCluster, hosts: SshHosts) -> None:
        self.cluster = cluster
        self.hosts = hosts

    def server(self, path: Path, **more: object) -> RelayServer:
        """A server that is not on the cluster."""
        host = self.hosts[0]
        here = f"{host.address.rsplit('.', 1)[0]}.1"
        described: Json = {
            "name": "test",
            "login": host.name,
            "destination": host.name,
            "options": ["-F", str(self.hosts.config)],
            "home": str(path / "cluster"),
            "env": {"SLURM_CONF": str(self.cluster.conf_seen_from(here))},
            **more,
        }
        return RelayServer(described, without_slurm(os.environ), path / "home")


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    try:
        cluster = SlurmCluster(1)
    except NoHosts as error:
        unavailable(str(error))
    with cluster:
        try:
            hosts = SshHosts(1)
        except NoHosts as error:
            unavailable(str(error))
        with hosts:
            yield Site(cluster, hosts)


def test_a_job_through_ssh(site: Site, tmp_path: Path) -> None:
    async def act() -> None:
        async with site.server(tmp_path) as server:
            facts = await server.client.ask("facts")
            assert facts["cluster"] == site.cluster.name
            await server.submit("a", script=f"echo x > output/model; {END}")
            assert (await server.until("a", is_type("end")))[-1]["succeeded"]
            with pytest.raises(AgentError, match="invalid partition"):
                await server.submit("b", "partition=nope")

    asyncio.run(act())
    copied = list((site.hosts[0].home / ".trainway/agent").glob("*.pyz"))
    assert len(copied) == 1


def test_a_login_node_that_is_cut_off_and_comes_back(site: Site, tmp_path: Path) -> None:
    host = site.hosts[0]

    async def act() -> None:
        async with site.server(tmp_path) as server:
            number = await server.submit("a", "hold", script=END)
            await server.until("a", is_type("status"))
            site.hosts.cut(host)
            with pytest.raises(UnavailableError, match=f"cluster test .{host.name}.:"):
                await server.until("a", is_type("end"))
            site.hosts.heal(host)
            await asyncio.to_thread(site.cluster.run, "scontrol", "release", number)
            async with asyncio.timeout(60):
                while True:
                    try:
                        path = str(server.home / "jobs" / "a")
                        await server.client.ask("track", id="a", directory=path)
                        break
                    except UnavailableError:
                        continue
            assert (await server.until("a", is_type("end")))[-1]["succeeded"]

    try:
        asyncio.run(act())
    finally:
        site.hosts.heal_all()


def test_a_host_without_slurm(site: Site, tmp_path: Path) -> None:
    async def act() -> None:
        alone = {"env": {"PATH": "/nowhere"}, "python": sys.executable}
        async with site.server(tmp_path, **alone) as server:
            with pytest.raises(
                AgentError, match="there is no scontrol on the login node"
            ) as caught:
                await server.client.ask("facts")
            assert "PATH" in str(caught.value.hint)

    asyncio.run(act())
