"""The nodes of a backend, with the jobs that are on them and what their GPUs do."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from trainway.backends import capabilities
from trainway.backends.base import Backend, Capacity
from trainway.backends.nodes import DrainsNodes, Gpu, HasNodes, Node
from trainway.engine.jobs import Engine
from trainway.engine.nodes.failures import NodeFailure, failures_by_node, tally
from trainway.engine.occupancy import Occupant, occupants
from trainway.engine.phases import LIVE
from trainway.engine.times import time_text
from trainway.errors import TrainwayError, UnavailableError
from trainway.jobset.quantity import Quantity
from trainway.json_types import Json
from trainway.server.api import Api
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import Shown
from trainway.server.paths import BASE_PATH

_LIMIT_S: Final = 20.0
_MOST_JOBS: Final = 500
MOST_NODES: Final = 2000
"""How many nodes one answer has at most."""


class NodesRequest(BaseModel):
    """Where to look."""

    model_config = ConfigDict(extra="forbid")

    backend: str = Field(max_length=253)


class GpuInfo(Shown):
    """One GPU."""

    name: str
    held: bool | None = Field(description="whether a job has it; null: nobody knows")
    utilization: float | None = Field(description="in percent; null: nobody measures it")
    memory: int | None = Field(description="bytes that are in use")
    total_memory: int | None
    job: str = Field(description="the id of the job that measures it; empty: none of ours")


class NodeJob(Shown):
    """A job that has pods on a node."""

    id: str
    name: str
    pods: int
    utilization: float | None = Field(
        description="the average of its GPUs there, where they are not measured one by one"
    )


class NodeInfo(Shown):
    """One node."""

    name: str
    state: str = Field(description="in the words of the backend")
    problem: str = Field(description="why it takes no jobs; empty: it does")
    sort: str = Field(description="type of GPU, instance type or partitions")
    cpus: float
    free_cpus: float
    memory: int
    free_memory: int
    gpus: int
    free_gpus: int
    devices: list[GpuInfo] = Field(description="empty: only the number of GPUs is known")
    jobs: list[NodeJob]
    drained: str = Field(description="why it is set aside; empty: it is not")
    drained_by: str = Field(description="who has set it aside; empty: that is not known")
    drained_since: str | None = Field(description="since when it is set aside")
    drained_until: str | None = Field(
        description="when it takes pods again by itself; null: when somebody lets it"
    )
    failures: dict[str, int] = Field(
        description="attempts of jobs that failed there in the last day, by cause"
    )
    last_failure: str = Field(description="the last one, in a sentence; empty: there was none")


class BackendNodes(Shown):
    """The nodes of a backend."""

    name: str
    nodes: list[NodeInfo]
    total: int = Field(description=f"how many nodes there are; at most {MOST_NODES} are listed")
    tells: bool = Field(description="whether the backend can list its nodes at all")
    drains: bool = Field(description="whether nodes can be set aside there, as far as we may")
    problem: str = Field(description="why they could not be listed; empty: they could")
    hint: str


def add_infra_routes(api: Api, engine: Engine) -> None:
    """The route that asks a backend."""

    @api.post(f"{BASE_PATH}/backends/nodes", tags=["server"], response_model=BackendNodes)
    async def nodes(body: NodesRequest) -> Response:
        """The nodes of a backend now. Hosts are logged in to, and clusters are asked."""
        backend = engine.registry.get(body.backend)
        error: TrainwayError = UnavailableError(
            f"{backend.name} does not answer", hint="Check says what is wrong with it"
        )
        if not isinstance(backend, HasNodes):
            return JsonAnswer(_answer(backend, [], tells=False))
        try:
            async with asyncio.timeout(_LIMIT_S):
                found = await _held(engine, backend, await backend.nodes())
                jobs = await _jobs(engine, backend.name, found)
                failed = await _failures(engine, backend.name, found)
        except TimeoutError:
            pass
        except TrainwayError as raised:
            error = raised
        else:
            views = [
                _node(node, jobs.get(node.name, []), failed.get(node.name, []))
                for node in found[:MOST_NODES]
            ]
            return JsonAnswer(_answer(backend, views, total=len(found)))
        return JsonAnswer(_answer(backend, [], problem=error.message, hint=error.hint or ""))


def _answer(backend: Backend, nodes: Sequence[Json], **more: object) -> Json:
    known = {"total": len(nodes), "tells": True, "problem": "", "hint": ""}
    drains = isinstance(backend, DrainsNodes)
    return {"name": backend.name, "nodes": nodes, "drains": drains, **known, **more}


async def _held(engine: Engine, backend: Backend, nodes: list[Node]) -> list[Node]:
    """Nodes of a backend whose queue is ours, with what our jobs leave of them."""
    if backend.schedules or len(nodes) != 1:
        return nodes
    capacity = await asyncio.to_thread(capabilities.capacity, backend)
    return [less_held(nodes[0], engine.free(backend, capacity))]


def less_held(node: Node, free: Capacity) -> Node:
    """The one node of a machine, with what is free of it."""
    return replace(
        node,
        free_cpus=free.cpus,
        free_memory=free.memory,
        free_gpus=len(free.gpus),
        devices=tuple(replace(gpu, is_held=gpu.name not in free.gpus) for gpu in node.devices),
    )


async def _jobs(engine: Engine, name: str, nodes: Sequence[Node]) -> dict[str, list[Occupant]]:
    records = await engine.reading.at(name, LIVE, _MOST_JOBS)
    series = await engine.metrics.summaries([record.id for record in records]) if records else {}
    return occupants(records, series, nodes[0].name if len(nodes) == 1 else "")


async def _failures(
    engine: Engine, name: str, nodes: Sequence[Node]
) -> dict[str, list[NodeFailure]]:
    records = await engine.reading.been_at(name, _MOST_JOBS)
    alone = nodes[0].name if len(nodes) == 1 else ""
    return failures_by_node(records, name, datetime.now(UTC), alone)


def _node(node: Node, jobs: Sequence[Occupant], failures: Sequence[NodeFailure]) -> Json:
    return {
        "name": node.name,
        "state": node.state,
        "problem": node.problem,
        "sort": node.sort,
        "cpus": _number(node.cpus),
        "freeCpus": _number(node.free_cpus),
        "memory": node.memory.ceil(),
        "freeMemory": node.free_memory.ceil(),
        "gpus": node.gpus,
        "freeGpus": node.free_gpus,
        "devices": devices(node, jobs),
        "jobs": [
            {
                "id": job.id,
                "name": job.name,
                "pods": job.pods,
                "utilization": job.gpus.get("", {}).get("utilization"),
            }
            for job in jobs
        ],
        "drained": node.drained,
        "drainedBy": node.drained_by,
        "drainedSince": _time(node.drained_since),
        "drainedUntil": _time(node.drained_until),
        "failures": tally(failures),
        "lastFailure": failures[-1].message if failures else "",
    }


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else time_text(moment)


def devices(node: Node, jobs: Iterable[Occupant]) -> list[Json]:
    """The GPUs of a node that are known one by one, also those that only their job knows."""
    users: dict[str, tuple[str, Mapping[str, float]]] = {
        index: (job.id, figures) for job in jobs for index, figures in job.gpus.items() if index
    }
    known = {gpu.name: gpu for gpu in node.devices}
    if not known and users and all(index.isdigit() and int(index) < node.gpus for index in users):
        known = {str(index): Gpu(str(index)) for index in range(node.gpus)}
    return [_gpu(gpu, *users.get(gpu.name, ("", {}))) for gpu in known.values()]


def _gpu(gpu: Gpu, job: str, figures: Mapping[str, float]) -> Json:
    utilization = figures.get("utilization") if gpu.utilization is None else gpu.utilization
    memory = figures.get("memory") if gpu.memory is None else gpu.memory
    return {
        "name": gpu.name,
        "held": True if job and gpu.is_held is None else gpu.is_held,
        "utilization": utilization,
        "memory": None if memory is None else int(memory),
        "totalMemory": gpu.total_memory,
        "job": job,
    }


def _number(amount: Quantity) -> float:
    return (amount * 1000).ceil() / 1000
