"""Those who keep clusters, and how a cluster is told to them and by them."""

import json
from collections.abc import AsyncIterator, Collection
from typing import Final, Protocol

from trainway.backends.host_amounts import HostAmounts
from trainway.engine.cluster.record import ClusterRecord, State
from trainway.json_types import Json

HOST: Final = "this"
"""The one host of local clusters."""


class Agents(Protocol):
    """Those who keep clusters: the pool agents."""

    def infra(self, cloud: str | None, region: str | None, zone: str | None = None) -> str:
        """The full name of an infrastructure; raises why a cluster cannot be there."""
        ...

    def pool(self, infra: str, cluster: str) -> str:
        """The name of the agent that keeps a cluster there."""
        ...

    def keep(self, record: Json) -> None:
        """Write down what the backend of its jobs must know."""
        ...

    def forget(self, name: str) -> None:
        """Remove what `keep` wrote."""
        ...

    def keep_pool(self, record: Json) -> None:
        """Write down what the backend of the jobs of a worker pool must know."""
        ...

    def forget_pool(self, name: str) -> None:
        """Remove what `keep_pool` wrote."""
        ...

    def tidy(self) -> None:
        """Remove what agents of rented machines have left that are there for nothing any more."""
        ...

    def directory(self, name: str) -> str:
        """The folder of a cluster on this machine."""
        ...

    async def hosts(self, infra: str) -> list[HostAmounts] | None:
        """What there is, as far as it is known soon; None: whoever gives nodes judges itself."""
        ...

    async def reach(
        self, pool: str, hosts: list[Json], wanted: Collection[str], limit_s: float
    ) -> list[Json]:
        """Tell an agent its hosts, and wait until those that are wanted say what they have."""
        ...

    async def login(self, pool: str, infra: str, host: str) -> Json:
        """What leads a person to a host: `words`, and maybe a `step` to be completed."""
        ...

    async def hold(self, pool: str, infra: str, cluster: Json) -> Json:
        """Have a cluster kept."""
        ...

    async def ask(self, pool: str, operation: str, name: str, **more: object) -> Json:
        """Have something done with a cluster; NotFoundError: the agent has none of that name."""
        ...

    async def look(self, pool: str) -> list[Json]:
        """All clusters of an agent, which is started if need be."""
        ...

    def watch(self, pool: str) -> AsyncIterator[list[Json]]:
        """The same whenever it changes, as long as the agent runs."""
        ...


def told(record: ClusterRecord) -> Json:
    """A cluster as its agent takes it."""
    data: Json = {
        "name": record.name,
        "id": record.id,
        "nodes": record.nodes,
        **record.shape.amounts(),
        "autostop": record.autostop_data,
        "given": record.gets_nodes,
    }
    if record.options is not None:
        name, options = record.options
        data[name] = {"options": options, "accelerator": record.shape.accelerator}
    return data


def columns_of(record: ClusterRecord, told: Json) -> Json:
    """What an agent says of a cluster, as the store has it."""
    autostop = told.get("autostop")
    columns: Json = {
        "state": State(told["state"]),
        "placed": json.dumps(told.get("nodes") or []),
        "autostop": json.dumps(autostop) if autostop else "",
    }
    if told["state"] == State.STOPPED:
        columns["devices"] = ""
    if not record.is_local:
        columns["message"] = str(told.get("message") or "")
    return columns


def placement(record: ClusterRecord) -> Json:
    """The nodes of a cluster to which the engine gives them, with the GPUs of each."""
    rented = not record.is_local
    return {
        "hosts": {
            f"node-{index}": host_name(record.name, index) if rented else HOST
            for index in range(record.nodes)
        },
        "devices": record.device_map,
    }


def host_name(cluster: str, rank: int) -> str:
    """What a rented machine of a cluster is called."""
    return f"{cluster}-{rank}"


def kept(record: ClusterRecord) -> Json:
    """What the backend of its jobs must know."""
    return {
        "name": record.name,
        "id": record.id,
        "infra": record.infra,
        "pool": record.pool,
        "nodes": record.nodes,
        "amounts": record.shape.amounts(),
        "state": str(record.state),
    }
