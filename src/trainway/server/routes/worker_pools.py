"""Worker pools: apply, list, look at, resize, take down."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from trainway.api.task.pool import MOST_WORKERS
from trainway.engine.jobs import Engine
from trainway.engine.submission import Submission
from trainway.engine.worker_pool.request import NewPool
from trainway.json_types import Json
from trainway.server.api import Api, Query
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import Shown, SubmitOptions
from trainway.server.paths import BASE_PATH
from trainway.server.routes.clusters import MOST_NODES, ClusterNode


class WorkerPoolRequest(BaseModel):
    """What a worker pool is to be."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(max_length=63)
    infra: str = Field(
        "",
        max_length=253,
        description="`local`, `ssh/POOL` or `slurm/CLUSTER`; empty: as the resources say",
    )
    nodes: int = Field(1, ge=1, le=MOST_NODES, description="of each worker")
    resources: Json = Field({}, description="of each node, as in a task")
    slurm: Json = Field({}, description="options of sbatch, for workers on Slurm")
    workers: Json = Field(description="the `pool` section of a task: `workers`, or limits")
    objects: list[Json] = Field(description="a task that sets up a worker, as for `POST /jobs`")
    options: SubmitOptions = SubmitOptions()
    dry_run: bool = Field(False, description="only see whether it could be had")


class ResizeRequest(BaseModel):
    """How many workers a pool is to have."""

    model_config = ConfigDict(extra="forbid")

    workers: int = Field(ge=1, le=MOST_WORKERS)


class WorkerPoolMetadata(Shown):
    """Names of a worker pool."""

    id: str
    name: str
    creation_timestamp: str


class WorkerPoolSpec(Shown):
    """What was asked for."""

    infra: str
    nodes: int = Field(description="of each worker")
    resources: Json = Field(description="of each node, as in a task")
    min_workers: int
    max_workers: int
    queue_length_threshold: int
    upscale_delay_seconds: float
    downscale_delay_seconds: float
    version: int = Field(description="it grows when workers become other ones")


class WorkerInfo(Shown):
    """A worker."""

    id: int
    name: str
    version: int
    phase: str = Field(description="STARTING, SETTING_UP, READY, FAILED or SHUTTING_DOWN")
    message: str
    launched: str
    setup_job: str | None = Field(description="the id of the job that set it up")
    used_by: str | None = Field(description="the id of the job that runs there")
    nodes: list[ClusterNode]


class WorkerPoolStatus(Shown):
    """How a worker pool stands."""

    phase: str = Field(description="STARTING, READY, FAILED, NO_WORKERS or SHUTTING_DOWN")
    message: str
    ready_workers: int
    waiting_jobs: int = Field(description="how many jobs wait for a worker")
    workers: list[WorkerInfo]


class WorkerPoolInfo(Shown):
    """Workers that are held ready for jobs."""

    api_version: str
    kind: str
    metadata: WorkerPoolMetadata
    spec: WorkerPoolSpec
    status: WorkerPoolStatus


class WorkerPoolList(Shown):
    """All worker pools, by name."""

    items: list[WorkerPoolInfo]


def add_worker_pool_routes(api: Api, engine: Engine) -> None:
    """The routes below /worker-pools."""
    pools = engine.worker_pools
    path = f"{BASE_PATH}/worker-pools"
    described: dict[str, Any] = {"tags": ["worker pools"], "response_model": WorkerPoolInfo}

    @api.get(path, tags=["worker pools"], response_model=WorkerPoolList)
    async def all_pools() -> Response:
        """List worker pools, each with its workers."""
        return JsonAnswer({"items": pools.all()})

    @api.post(path, **described)
    async def apply_pool(body: WorkerPoolRequest) -> Response:
        """Make a worker pool, or change the one of that name.

        A job is submitted to the backend `worker-pool/NAME`.
        """
        new = NewPool(
            name=body.name,
            infra=body.infra,
            nodes=body.nodes,
            resources=body.resources,
            slurm=body.slurm,
            workers=body.workers,
            submission=Submission(body.objects, **body.options.model_dump()),
        )
        return JsonAnswer(await pools.apply(new, dry_run=body.dry_run))

    @api.get(f"{path}/{{name}}", **described)
    async def get_pool(name: str) -> Response:
        """Show a worker pool."""
        return JsonAnswer(pools.get(name))

    @api.post(f"{path}/{{name}}/workers", **described)
    async def resize_pool(name: str, body: ResizeRequest) -> Response:
        """Have a worker pool have so many workers from now on."""
        return JsonAnswer(await pools.resize(name, body.workers))

    @api.delete(f"{path}/{{name}}", **described)
    async def take_down_pool(name: str, cancel_jobs: Annotated[bool, Query()] = False) -> Response:
        """Release all workers and forget the pool; refused while it has jobs, unless told."""
        return JsonAnswer(await pools.down(name, cancel_jobs=cancel_jobs))
