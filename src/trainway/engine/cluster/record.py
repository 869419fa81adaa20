"""A cluster as the store holds it, and as everybody is shown it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from trainway.engine.cluster.shape import Shape
from trainway.engine.queue import GPUS, QueuedGang
from trainway.engine.record import storable
from trainway.families.builtin import HELD, HERE
from trainway.families.family import Clusters
from trainway.families.table import family_of
from trainway.json_types import Json

API_VERSION: Final = "trainway.dev/v1alpha1"
KIND: Final = "Cluster"


class State(StrEnum):
    """Where a cluster is in its life; the names are SkyPilot's."""

    INIT = "INIT"
    """The cluster waits for its nodes."""
    UP = "UP"
    STOPPED = "STOPPED"
    """The cluster has no nodes, and can have them again."""
    AUTOSTOPPING = "AUTOSTOPPING"


@dataclass(frozen=True, kw_only=True)
class ClusterRecord:
    """One row of `clusters`. Fields that hold JSON are text; the properties read them."""

    name: str
    id: str
    """The id: older than those of its jobs, and younger than those of a former cluster of
    its name."""
    infra: str
    pool: str
    """The pool agent that keeps it."""
    nodes: int
    resources: str = "{}"
    autostop: str = ""
    state: str = State.INIT
    message: str = ""
    launched: str = ""
    held: bool = False
    """Whether its agent knows of it."""
    devices: str = ""
    """The GPUs that the engine gave its nodes, where the engine does so."""
    placed: str = "[]"
    """Its nodes, as its agent tells them."""
    last_job: int = 0
    worker_pool: str = ""
    """The worker pool that it is a worker of; empty: somebody launched it."""
    rates: str | None = None
    """What it costs for each hour, as `costs.rate` has it; None: nobody has said a price."""
    runs: str | None = None
    """When it was up, as `attempt_runs` has it."""
    labels: str = "{}"
    """Whose it is, and what else its owner says of it."""
    budget: str | None = None
    """What it may cost, as `costs.budget` has it; None: anything."""

    @property
    def backend(self) -> str:
        """The backend of its jobs."""
        return f"{HELD}/{self.name}"

    @property
    def label_map(self) -> Mapping[str, str]:
        """Its labels."""
        found: Mapping[str, str] = json.loads(self.labels)
        return found

    @property
    def is_local(self) -> bool:
        """Whether it is a share of this machine, which the engine gives out."""
        return self.infra == HERE

    @property
    def gets_nodes(self) -> bool:
        """Whether the engine says which nodes it has, and its agent does not choose them."""
        return self.is_local or family_of(self.infra).rents

    @property
    def is_stoppable(self) -> bool:
        """Whether it can let go of its nodes and get nodes again."""
        return family_of(self.infra).clusters is Clusters.STOPPABLE

    @property
    def options(self) -> tuple[str, Json] | None:
        """The options for a submit command with which it was asked for, and their name.

        None: whoever gives it nodes takes none.
        """
        name = family_of(self.infra).options
        return (name, json.loads(self.resources).get(name) or {}) if name else None

    @property
    def shape(self) -> Shape:
        """What each node has."""
        return Shape.from_dict(self.nodes, json.loads(self.resources))

    @property
    def autostop_data(self) -> Json | None:
        """Minutes, and whether it goes down; None: never."""
        data: Json | None = json.loads(self.autostop) if self.autostop else None
        return data

    @property
    def placed_data(self) -> list[Json]:
        """Its nodes."""
        nodes: list[Json] = json.loads(self.placed)
        return nodes

    @property
    def device_map(self) -> Json:
        """The GPUs of its nodes, as it was given them, else as its agent tells them."""
        if self.devices:
            data: Json = json.loads(self.devices)
            return data
        nodes = enumerate(self.placed_data)
        return {f"node-{index}": {GPUS: node["gpus"]} for index, node in nodes if node.get("gpus")}

    @property
    def gang(self) -> QueuedGang | None:
        """What the engine's queue has of it: a local one that waits for its nodes.

        A worker holds them from then on, and waits until they are free.
        """
        if not self.is_local or self.state != State.INIT or self.devices:
            return None
        return QueuedGang(self.id, self.shape.demand(), is_promise=not self.worker_pool)

    @property
    def is_promised(self) -> bool:
        """Whether it is a share of this machine, which its jobs get when they run."""
        has_devices = self.state == State.INIT and bool(self.devices)
        return self.is_local and (has_devices or self.state in (State.UP, State.AUTOSTOPPING))

    def changed(self, columns: Mapping[str, object]) -> "ClusterRecord":
        """With other values."""
        values: dict[str, Any] = {name: storable(value) for name, value in columns.items()}
        return replace(self, **values)


def cluster_view(record: ClusterRecord, directory: str, jobs: int, cost: Json) -> Json:
    """The cluster as the API shows it; `jobs` are those that run or wait, `cost` is its bill."""
    autostop = record.autostop_data
    shown = None
    if autostop is not None:
        shown = {"idleMinutes": autostop["minutes"], "down": bool(autostop.get("down"))}
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {
            "id": record.id,
            "name": record.name,
            "creationTimestamp": record.launched,
            "labels": dict(record.label_map),
        },
        "spec": {
            "infra": record.infra,
            "nodes": record.nodes,
            "resources": record.shape.to_dict(),
            "autostop": shown,
        },
        "status": {
            "phase": record.state,
            "message": record.message,
            "nodes": record.placed_data,
            "activeJobs": jobs,
            "directory": directory if record.is_local else None,
            "stoppable": record.is_stoppable,
            **cost,
        },
    }
