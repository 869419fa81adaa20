"""Clusters: launch, list, look at, act on."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from trainway.engine.cluster.request import Launch
from trainway.json_types import Json
from trainway.server.api import Api, Query
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import Job, Shown
from trainway.server.paths import BASE_PATH
from trainway.server.service import Service
from trainway.server.usage_models import COST, SAVED

MOST_NODES = 10_000
_MOST_MINUTES = 2**31


class LaunchRequest(BaseModel):
    """What a cluster is to be."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field("", description="empty: a name is made up")
    infra: str = Field(
        "",
        description="`local`, `ssh/POOL`, `slurm/CLUSTER` or `CLOUD/REGION/ZONE`; empty: as the "
        "resources say",
    )
    nodes: int = Field(1, ge=1, le=MOST_NODES)
    resources: Json = Field(
        {}, description="of each node, as in a task; the first candidate counts"
    )
    idle_minutes: int | None = Field(
        None, ge=0, lt=_MOST_MINUTES, description="stop after so long without a job"
    )
    down: bool = Field(False, description="go down instead, and be forgotten")
    slurm: Json = Field({}, description="options of sbatch, for a cluster on Slurm")
    retry_until_up: bool = Field(
        False, description="where machines are rented, ask until a cloud has them"
    )
    labels: dict[str, str] = Field({}, description="whose it is; budgets of them count its cost")
    max_cost: float | None = Field(
        None, gt=0, le=1e9, description="in dollars; when all is spent, it is taken down"
    )
    dry_run: bool = Field(False, description="only see whether it could be had")


class AutostopRequest(BaseModel):
    """When an idle cluster stops."""

    model_config = ConfigDict(extra="forbid")

    idle_minutes: int | None = Field(None, ge=0, lt=_MOST_MINUTES, description="none: never")
    down: bool = False


class ClusterMetadata(Shown):
    """Names of a cluster."""

    id: str
    name: str
    creation_timestamp: str
    labels: dict[str, str] | None = Field(None, description="whose it is, and what else was said")


class NodeResources(Shown):
    """What a node of a cluster has."""

    cpus: str
    memory: str = Field(description="`0`: none in particular")
    gpus: float
    accelerators: str = Field(description="as its author named them: `A100:8`")


class Autostop(Shown):
    """When an idle cluster stops."""

    idle_minutes: int
    down: bool = Field(description="whether it goes down instead, and is forgotten")


class ClusterSpec(Shown):
    """What was asked for."""

    infra: str
    nodes: int
    resources: NodeResources = Field(description="of each node")
    autostop: Autostop | None = Field(description="none: it does not stop by itself")


class ClusterNode(Shown):
    """A node that a cluster has."""

    host: str
    address: str
    gpus: list[str]
    lost: bool = Field(False, description="whether its host does not answer any more")


class RentalAttempt(Shown):
    """Something that was tried at a cloud and did not work."""

    infra: str
    instance_type: str
    spot: bool
    hourly_price: str
    error: str
    at: str


class ClusterRental(Shown):
    """What is rented for a cluster."""

    state: str
    cloud: str
    region: str
    zone: str
    instance_type: str
    spot: bool
    hourly_price: str = Field(description="of all nodes, in dollars")
    message: str
    history: list[RentalAttempt] = Field(description="what was tried before")


class ClusterStatus(Shown):
    """How a cluster stands."""

    phase: str = Field(description="INIT, UP, STOPPED or AUTOSTOPPING")
    message: str = Field(description="what it waits for, or why it stopped")
    nodes: list[ClusterNode]
    active_jobs: int = Field(description="how many of its jobs run or wait")
    directory: str | None = Field(description="its folder, where it is on the server's machine")
    stoppable: bool = Field(description="whether it can be stopped and started again")
    cost: float | None = Field(None, description=COST)
    saved: float | None = Field(None, description=SAVED)
    cost_since: str | None = Field(None, description="what it cost from then on is not in the sum")
    price_per_hour: float | None = Field(None, description="what it costs meanwhile")
    budget: Json | None = Field(None, description="the most that it may cost: `limit`, `warned`")
    rental: ClusterRental | None = Field(None, description="none: its nodes are not rented")


class ClusterInfo(Shown):
    """A cluster."""

    api_version: str
    kind: str
    metadata: ClusterMetadata
    spec: ClusterSpec
    status: ClusterStatus


class ClusterList(Shown):
    """All clusters."""

    items: list[ClusterInfo]


class ClusterJob(Shown):
    """A job of a cluster."""

    number: int
    resources: str
    logs: str
    job: Job


class ClusterJobs(Shown):
    """The queue of a cluster, newest first."""

    items: list[ClusterJob]


def add_cluster_routes(api: Api, service: Service) -> None:
    """All routes below /clusters."""
    clusters = service.engine.clusters

    @api.post(f"{BASE_PATH}/clusters", tags=["clusters"], response_model=ClusterInfo)
    async def launch(body: LaunchRequest) -> Response:
        """Make a cluster unless it is there; a stopped one starts again."""
        return JsonAnswer(await clusters.launch(Launch(**body.model_dump())))

    @api.get(f"{BASE_PATH}/clusters", tags=["clusters"], response_model=ClusterList)
    async def listed() -> Response:
        """List clusters."""
        return JsonAnswer({"items": await clusters.all()})

    @api.post(f"{BASE_PATH}/clusters/refresh", tags=["clusters"], response_model=ClusterList)
    async def refreshed() -> Response:
        """List clusters, after their agents were asked once more."""
        return JsonAnswer({"items": await clusters.all(refresh=True)})

    @api.get(f"{BASE_PATH}/clusters/{{name}}", tags=["clusters"], response_model=ClusterInfo)
    async def get(name: str) -> Response:
        """Show a cluster."""
        return JsonAnswer(await clusters.get(name))

    @api.get(f"{BASE_PATH}/clusters/{{name}}/jobs", tags=["clusters"], response_model=ClusterJobs)
    async def jobs(name: str) -> Response:
        """The jobs of a cluster; a new one is submitted to the backend `cluster/NAME`."""
        return JsonAnswer({"items": await clusters.jobs(name)})

    @api.get(f"{BASE_PATH}/clusters/{{name}}/access", tags=["clusters"])
    async def access(name: str) -> Response:
        """How a person gets to the first node: a folder and variables here, or words."""
        return JsonAnswer(await clusters.access(name))

    @api.post(f"{BASE_PATH}/clusters/{{name}}/stop", tags=["clusters"], response_model=ClusterInfo)
    async def stop(name: str) -> Response:
        """End its jobs and give back its nodes; it can be started again."""
        return JsonAnswer(await clusters.stop(name))

    @api.post(f"{BASE_PATH}/clusters/{{name}}/start", tags=["clusters"], response_model=ClusterInfo)
    async def start(name: str, body: AutostopRequest | None = None) -> Response:
        """Give a stopped cluster its nodes again."""
        wish = body or AutostopRequest()
        return JsonAnswer(await clusters.restart(name, wish.idle_minutes, down=wish.down))

    @api.post(
        f"{BASE_PATH}/clusters/{{name}}/autostop", tags=["clusters"], response_model=ClusterInfo
    )
    async def autostop(name: str, body: AutostopRequest) -> Response:
        """Set after how long without a job it stops, or that it does not."""
        return JsonAnswer(await clusters.autostop(name, body.idle_minutes, down=body.down))

    @api.delete(f"{BASE_PATH}/clusters/{{name}}", tags=["clusters"], response_model=ClusterInfo)
    async def down(name: str, purge: Annotated[bool, Query()] = False) -> Response:
        """End its jobs, give back its nodes and forget it."""
        return JsonAnswer(await clusters.down(name, purge=purge))
