"""The pool agents as keepers of clusters, for the engine."""

import asyncio
import shlex
from collections.abc import AsyncIterator, Collection
from pathlib import Path
from typing import Final

from trainway.agent.transfer.ssh_command import login
from trainway.backends.agents.agent_socket import AgentError
from trainway.backends.host_amounts import HostAmounts
from trainway.backends.pool import own_agents
from trainway.backends.pool.holders import Holders
from trainway.backends.pool.kept import KeptClusters, KeptWorkerPools
from trainway.backends.pool.pool_agent import PoolAgent
from trainway.errors import NotFoundError, TrainwayError, UnavailableError
from trainway.json_types import Json

_PATIENCE_S: Final = 10.0
"""How long to wait until all hosts of a pool have said what they have."""
_STEP_S: Final = 0.05
_BOOT_STEP_S: Final = 0.2
"""How often to ask whether a machine has started that was made a moment ago."""
_NAMED: Final = 3
"""How many hosts a message names."""


class ClusterAgents:
    """Asks the agent of a pool about its clusters."""

    def __init__(self, home: Path, holders: Holders) -> None:
        self._home = home
        self._holders = holders
        self._kept = KeptClusters(home)
        self._kept_pools = KeptWorkerPools(home)
        self._agents: dict[str, PoolAgent] = {}

    def infra(self, cloud: str | None, region: str | None, zone: str | None = None) -> str:
        """The full name of an infrastructure; raises why a cluster cannot be there."""
        return self._holders.infra(cloud, region, zone)

    def pool(self, infra: str, cluster: str) -> str:
        """The name of the agent that keeps a cluster there."""
        return self._holders.of(infra).pool(infra, cluster)

    def keep(self, record: Json) -> None:
        """Write down what the backend of its jobs must know."""
        self._kept.write(record)

    def forget(self, name: str) -> None:
        """Remove what `keep` wrote, and the agent that was there for this cluster alone."""
        self._kept.remove(name)
        if not self._kept_pools.directory(name).exists():
            own_agents.remove(self._home, name)

    def keep_pool(self, record: Json) -> None:
        """Write down what the backend of the jobs of a worker pool must know."""
        self._kept_pools.write(record)

    def forget_pool(self, name: str) -> None:
        """Remove what `keep_pool` wrote, and the agent that was there for its workers alone."""
        self._kept_pools.remove(name)
        if not self._kept.directory(name).exists():
            own_agents.remove(self._home, name)

    def tidy(self) -> None:
        """Remove agents of rented machines that are there for nothing any more."""
        wanted = {*self._kept.names(), *self._kept_pools.names()}
        own_agents.tidy(self._home, wanted.__contains__)

    def directory(self, name: str) -> str:
        """The folder of a cluster on this machine."""
        return str(self._kept.directory(name))

    async def hosts(self, infra: str) -> list[HostAmounts] | None:
        """What the hosts have. None: nobody knows them yet, or one takes long to say it."""
        hosts = await self._hosts(infra)
        if not hosts:
            return None
        agent = await self._configured(self.pool(infra, ""), hosts)
        try:
            async with asyncio.timeout(_PATIENCE_S):
                while True:
                    found: list[Json] = (await agent.ask("status"))["hosts"]
                    if all(host.get("cpus") is not None or host.get("message") for host in found):
                        break
                    await asyncio.sleep(_STEP_S)
        except TimeoutError:
            return None  # the one that is slow may have what is wanted
        absent = [host for host in found if host.get("cpus") is None]
        if found and len(absent) == len(found):
            told = "; ".join(f"{host['name']}: {host['message']}" for host in absent[:_NAMED])
            hint = str(absent[0].get("hint") or "trainway doctor says more")
            raise UnavailableError(f"no host of {infra} can be used: {told}", hint=hint)
        return [
            HostAmounts(
                str(host["name"]), host.get("cpus") or 0, host.get("memory") or 0, _count(host)
            )
            for host in found
        ]

    async def reach(
        self, pool: str, hosts: list[Json], wanted: Collection[str], limit_s: float
    ) -> list[Json]:
        """Tell an agent its hosts, and wait until those that are wanted say what they have."""
        agent = await self._configured(pool, hosts)
        found = list[Json]()
        try:
            async with asyncio.timeout(limit_s):
                while True:
                    told: list[Json] = (await agent.ask("status"))["hosts"]
                    found = [host for host in told if host["name"] in wanted]
                    if all(host.get("cpus") is not None for host in found):
                        return found
                    await asyncio.sleep(_BOOT_STEP_S)
        except TimeoutError:
            absent = next((host for host in found if host.get("cpus") is None), {})
            why = absent.get("message") or "it does not answer"
            raise UnavailableError(
                f"{absent.get('name') or pool} cannot be reached after {limit_s:g} s: {why}",
                hint=str(absent.get("hint") or "see whether ssh to the machine is allowed"),
            ) from None

    async def login(self, pool: str, infra: str, host: str) -> Json:
        """What leads a person to a host: words of ssh, or a step of Slurm to be completed."""
        hosts = await self._hosts(infra)
        if not hosts:
            hosts = (await self._agent(pool).ask("status"))["hosts"]
        found = next((item for item in hosts if item["name"] == host), None)
        if found is None:
            raise NotFoundError(f"host {host} is no longer one of {infra}")
        if found.get("step"):
            return {"words": found["program"], "step": found["step"]}
        return {"words": shlex.split(login(found))}

    async def hold(self, pool: str, infra: str, cluster: Json) -> Json:
        """Have a cluster kept."""
        order = self._holders.of(infra).order(infra, cluster)
        agent = await self._configured(pool, await self._hosts(infra))
        return await _asked(agent, "allocate", cluster=order)

    async def ask(self, pool: str, operation: str, name: str, **more: object) -> Json:
        """Have something done with a cluster; NotFoundError: the agent has none of that name."""
        try:
            return await _asked(self._agent(pool), operation, cluster=name, **more)
        except TrainwayError as error:
            if "there is no cluster" in error.message:
                raise NotFoundError(f"there is no cluster {name!r}") from None
            raise

    async def look(self, pool: str) -> list[Json]:
        """All clusters of an agent, which is started if need be."""
        answer = await self._agent(pool).ask("status")
        clusters: list[Json] = answer["clusters"]
        return clusters

    async def watch(self, pool: str) -> AsyncIterator[list[Json]]:
        """The same whenever it changes, as long as the agent runs."""
        async for told in self._agent(pool).stream("clusters"):
            if "clusters" in told:
                yield told["clusters"]

    async def _hosts(self, infra: str) -> list[Json]:
        return await asyncio.to_thread(self._holders.of(infra).hosts, infra)

    async def _configured(self, pool: str, hosts: list[Json]) -> PoolAgent:
        agent = self._agent(pool)
        if hosts:  # also those that it knows: they may have been mended meanwhile
            await agent.ask("configure", hosts=hosts)
        return agent

    def _agent(self, pool: str) -> PoolAgent:
        if pool not in self._agents:
            self._agents[pool] = PoolAgent(self._home / own_agents.POOLS / pool)
        return self._agents[pool]


async def _asked(agent: PoolAgent, operation: str, **more: object) -> Json:
    """What an agent says; what it refuses it says in words of its own."""
    try:
        return await agent.ask(operation, **more)
    except AgentError as error:
        said = error.message.removeprefix(f"{operation}: ")
        raise AgentError(said, hint=error.hint) from None


def _count(host: Json) -> float:
    gpus = host.get("gpus") or 0
    return float(len(gpus)) if isinstance(gpus, list) else float(gpus)
