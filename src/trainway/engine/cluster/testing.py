"""Keepers of clusters in memory, for tests of what is above: the test plays the agents."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from trainway.backends.base import AgentStartError
from trainway.backends.host_amounts import HostAmounts
from trainway.errors import NotFoundError, TrainwayError, UnavailableError, UsageError
from trainway.json_types import Json


class FakeAgents:
    """One agent for each pool, which holds what it is told to hold."""

    def __init__(self) -> None:
        self.clusters: dict[str, Json] = {}
        self.kept: dict[str, Json] = {}
        self.asked: list[str] = []
        self.away = ""
        """Why nobody answers."""
        self.unstartable: dict[str, list[str]] = {}
        """For an operation: why the agents that it needs cannot be started, one each."""
        self.rooms = [HostAmounts("a1", 4, 8 * 2**30, 2), HostAmounts("a2", 2, 8 * 2**30, 0)]
        self._changed = asyncio.Event()

    def infra(self, cloud: str | None, region: str | None, zone: str | None = None) -> str:
        """Local, a pool, or a cluster of Slurm."""
        if cloud in (None, "local"):
            return "local"
        if cloud == "slurm":
            return f"slurm/{region or 'hpc'}" + (f"/{zone}" if zone else "")
        if cloud != "ssh":
            raise UsageError(f"clusters on {cloud} are not supported yet")
        return f"ssh/{region or 'lab'}"

    def pool(self, infra: str) -> str:
        """Named after the infrastructure."""
        return infra.replace("/", "-")

    def keep(self, record: Json) -> None:
        """Note it."""
        self.kept[record["name"]] = record

    def forget(self, name: str) -> None:
        """Note it."""
        del self.kept[name]

    def directory(self, name: str) -> str:
        """A path with nothing there."""
        return f"/clusters/{name}"

    async def hosts(self, infra: str) -> list[HostAmounts] | None:
        """What the test says; Slurm says nothing."""
        return None if infra.startswith("slurm/") else self.rooms

    async def login(self, infra: str, host: str) -> Json:
        """Words."""
        return {"words": ["ssh", f"{host}.{infra}"]}

    async def hold(self, infra: str, cluster: Json) -> Json:
        """Keep it; elsewhere it gets its nodes at once."""
        self._note("allocate", cluster["name"])
        held: Json = {**cluster, "pool": self.pool(infra), "state": "INIT", "message": ""}
        self.clusters[cluster["name"]] = held
        if not cluster["given"]:
            nodes = [{"host": "a1", "address": "10.0.0.1", "gpus": []}] * cluster["nodes"]
            held |= {"state": "UP", "nodes": nodes}
        return {"ok": True, "cluster": dict(held)}

    async def ask(self, pool: str, operation: str, name: str, **more: Any) -> Json:
        """Do it."""
        self._note(operation, name)
        cluster = self.clusters.get(name)
        if cluster is None or cluster["pool"] != pool:
            raise NotFoundError(f"there is no cluster {name!r}")
        if operation == "release":
            cluster |= {"state": "STOPPED", "nodes": []}
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
