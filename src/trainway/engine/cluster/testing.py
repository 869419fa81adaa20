"""Clusters in memory, for tests of what is above: the test plays the agents that keep them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from trainway.backends.base import AgentStartError, BackendSettings
from trainway.backends.host_amounts import HostAmounts
from trainway.backends.registry import Registry
from trainway.backends.testing import FakeBackend, FakeJob
from trainway.engine.agent_starts import StartPolicy
from trainway.engine.cluster.clusters import Clusters
from trainway.engine.cluster.request import Launch
from trainway.engine.jobs import Engine
from trainway.engine.notify.notifier import NOBODY, Notifying
from trainway.engine.store import Store
from trainway.engine.submission import Submission
from trainway.engine.testing import NOW, World, jobset, memory_store
from trainway.errors import (
    NotFoundError,
    TrainwayError,
    UnavailableError,
    UsageError,
)
from trainway.families.clouds import CLOUDS
from trainway.families.table import name_of
from trainway.json_types import Json


class FakeAgents:
    """One agent for each pool, which holds what it is told to hold."""

    def __init__(self) -> None:
        self.clusters: dict[str, Json] = {}
        self.kept: dict[str, Json] = {}
        self.pools: dict[str, Json] = {}
        """What was kept of worker pools."""
        self.asked: list[str] = []
        self.away = ""
        """Why nobody answers."""
        self.reached: list[Json] = []
        """The hosts that an agent was told of last."""
        self.unstartable: dict[str, list[str]] = {}
        """For an operation: why the agents that it needs cannot be started, one each."""
        self.drained: dict[str, str] = {}
        """Why hosts were set aside; empty: they take pods again."""
        self.rooms = [HostAmounts("a1", 4, 8 * 2**30, 2), HostAmounts("a2", 2, 8 * 2**30, 0)]
        self._changed = asyncio.Event()

    def infra(self, cloud: str | None, region: str | None, zone: str | None = None) -> str:
        """Local, a pool, or a cluster of Slurm."""
        if cloud in (None, "local"):
            return "local"
        if cloud == "slurm":
            return f"slurm/{region or 'hpc'}" + (f"/{zone}" if zone else "")
        if cloud in CLOUDS:
            return "/".join(part for part in (cloud, region, zone) if part)
        if cloud != "ssh":
            raise UsageError(f"clusters on {cloud} are not supported yet")
        return f"ssh/{region or 'lab'}"

    def pool(self, infra: str, cluster: str) -> str:
        """Named after the infrastructure; on clouds each has its own."""
        if name_of(infra) in CLOUDS:
            return f"cloud+{cluster}"
        return infra.replace("/", "-")

    def keep(self, record: Json) -> None:
        """Note it."""
        self.kept[record["name"]] = record

    def forget(self, name: str) -> None:
        """Note it."""
        del self.kept[name]

    def keep_pool(self, record: Json) -> None:
        """Note it."""
        self.pools[record["name"]] = record

    def forget_pool(self, name: str) -> None:
        """Note it."""
        self.pools.pop(name, None)

    def tidy(self) -> None:
        """There is nothing to remove."""

    def directory(self, name: str) -> str:
        """A path with nothing there."""
        return f"/clusters/{name}"

    async def hosts(self, infra: str) -> list[HostAmounts] | None:
        """What the test says; Slurm and clouds say nothing."""
        return None if name_of(infra) in ("slurm", *CLOUDS) else self.rooms

    async def reach(
        self,
        pool: str,
        hosts: list[Json],
        wanted: Collection[str],
        limit_s: float,  # noqa: ARG002 - nobody waits
    ) -> list[Json]:
        """All are there at once, and are as large as the first room."""
        self._note("reach", pool)
        self.reached = hosts
        one = self.rooms[0]
        amounts: Json = {"cpus": one.cpus, "memory": one.memory, "gpus": ["0", "1"]}
        found = [{"name": host["name"], **amounts} for host in hosts if host["name"] in wanted]
        return [{**host, "drained": self.drained.get(str(host["name"]), "")} for host in found]

    async def login(self, pool: str, infra: str, host: str) -> Json:  # noqa: ARG002 - as above
        """Words."""
        return {"words": ["ssh", f"{host}.{infra}"]}

    async def hold(self, pool: str, infra: str, cluster: Json) -> Json:  # noqa: ARG002 - as above
        """Keep it; elsewhere it gets its nodes at once."""
        self._note("allocate", cluster["name"])
        held: Json = {
            **cluster,
            "pool": pool,
            "state": "INIT",
            "message": "",
        }
        self.clusters[cluster["name"]] = held
        if not cluster["given"]:
            nodes = [{"host": "a1", "address": "10.0.0.1", "gpus": []}] * cluster["nodes"]
            held |= {"state": "UP", "nodes": nodes}
        return {"ok": True, "cluster": dict(held)}

    async def ask(self, pool: str, operation: str, name: str, **more: Any) -> Json:
        """Do it."""
        self._note(operation, name)
        if operation == "drain":
            self.drained[more["host"]] = more.get("why", "")
        if operation in ("lend", "drain"):
            return {"ok": True}
        cluster = self.clusters.get(name)
        if cluster is None or cluster["pool"] != pool:
            raise NotFoundError(f"there is no cluster {name!r}")
        if operation == "release":
            cluster |= {"state": "STOPPED", "nodes": [], "message": more.get("message", "")}
            if not more["stop"]:
                del self.clusters[name]
        elif operation == "autostop":
            told = None if more["minutes"] is None else more
            cluster["autostop"] = told
        elif more.get("placement"):
            devices = more["placement"]["devices"]
            nodes = [
                {"host": host, "address": "", "gpus": devices.get(key, {}).get("gpus", [])}
                for key, host in more["placement"]["hosts"].items()
            ]
            cluster |= {"state": "UP", "nodes": nodes}
        else:
            cluster["state"] = "INIT"
        return {"ok": True, "cluster": dict(cluster)}

    async def look(self, pool: str) -> list[Json]:
        """What it keeps."""
        if self.away:
            raise UnavailableError(self.away)
        return [dict(item) for item in self.clusters.values() if item["pool"] == pool]

    async def watch(self, pool: str) -> AsyncIterator[list[Json]]:
        """The same after every change that the test makes."""
        while True:
            self._changed.clear()
            yield await self.look(pool)
            await self._changed.wait()

    def say(self, name: str, **fields: Any) -> None:
        """Let a cluster change by itself; in the state `gone` it is gone."""
        self.clusters[name] |= fields
        if fields.get("state") == "gone":
            del self.clusters[name]
        self._changed.set()

    def _note(self, operation: str, name: str) -> None:
        if self.away:
            raise TrainwayError(self.away)
        if self.unstartable.get(operation):
            raise AgentStartError(self.unstartable[operation].pop(0))
        self.asked.append(f"{operation} {name}")


class ClusterJobs(FakeBackend):
    """The backend of the jobs of one cluster."""

    schedules = True

    def __init__(self, cluster: str) -> None:
        super().__init__()
        self.name = f"cluster/{cluster}"


class _Registry(Registry):
    def __init__(self, agents: FakeAgents, *backends: FakeBackend) -> None:
        super().__init__(BackendSettings(Path("/")))
        self._keepers = agents
        for backend in backends:
            self.put(backend)

    def cluster_agents(self) -> Any:
        return self._keepers


class ClusterWorld(World):
    """An engine with a machine of 4 CPUs and 2 GPUs, and a cluster's backend."""

    def __init__(
        self,
        agents: FakeAgents | None = None,
        store: Store | None = None,
        notifying: Notifying = NOBODY,
        prices: Mapping[str, Any] | None = None,
    ) -> None:
        self.agents = agents or FakeAgents()
        self.backend = FakeBackend(gpus=2)
        self.jobs = ClusterJobs("dev")
        self.store = store or memory_store()
        self.now = NOW
        registry = _Registry(self.agents, self.backend, self.jobs)
        starts = StartPolicy(first_pause_s=0.001)
        self.engine = Engine(
            self.store,
            registry,
            clock=lambda: self.now,
            starts=starts,
            notifying=notifying,
            prices=lambda: prices or {},
        )

    @property
    def clusters(self) -> Clusters:
        """Those of the engine."""
        return self.engine.clusters

    async def launch(self, name: str = "dev", nodes: int = 1, **resources: Any) -> Json:
        """Ask for a cluster of so many nodes, each with these resources."""
        infra = str(resources.pop("infra", ""))
        return await self.clusters.launch(Launch(name, infra, nodes, resources))

    async def exec(self, name: str = "job") -> str:
        """The id of a job that is submitted to the cluster `dev`."""
        submission = Submission([jobset(name)], environ={"A": "b"}, backend="cluster/dev")
        job, _ = await self.engine.submit(submission)
        return str(job["metadata"]["id"])

    def phase(self, name: str = "dev") -> str:
        """The state of a cluster as it is stored."""
        return str(self.clusters.record(name).state)

    async def until_cluster(self, holds: Callable[[], bool]) -> None:
        """Wait for something that nothing announces."""
        async with asyncio.timeout(60):
            while not holds():
                await asyncio.sleep(0.001)

    async def until_phase(self, phase: str, name: str = "dev") -> None:
        """Wait for a cluster to come to a state."""
        await self.until_cluster(lambda: self.phase(name) == phase)


Scene = Callable[[ClusterWorld], Awaitable[None]]


def play(scene: Scene, world: ClusterWorld | None = None) -> None:
    """Let a scene happen with an engine that runs."""

    async def run() -> None:
        played = world or ClusterWorld()
        await played.engine.start()
        try:
            await scene(played)
        finally:
            await played.engine.close()

    asyncio.run(run())


async def until_begun(backend: FakeBackend, job_id: str) -> FakeJob:
    """Wait until a job was given to its backend."""
    async with asyncio.timeout(60):
        while job_id not in backend.jobs:
            await asyncio.sleep(0.001)
    return backend.jobs[job_id]
