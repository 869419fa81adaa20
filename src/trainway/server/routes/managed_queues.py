"""Managed queues: how much of everything the jobs of each may have, and in which order they go."""

import re
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from trainway.engine.jobs import Engine
from trainway.errors import UsageError
from trainway.json_types import Json
from trainway.queueing.queue_object import API_VERSION, KIND, NAME
from trainway.queueing.queue_policy import QueueState
from trainway.server import models
from trainway.server.api import Api
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import INT32, Shown
from trainway.server.paths import BASE_PATH


class QueueRequest(Shown):
    """A queue, as `trainway queues apply` reads it from a file."""

    model_config = ConfigDict(extra="allow", defer_build=False)  # `spec` is checked field by field

    api_version: str = Field(API_VERSION, max_length=100)
    kind: str = Field(KIND, max_length=100)
    metadata: Json
    spec: Json | None = None


class QueueMetadata(Shown):
    """The name of a queue."""

    name: str
    creation_timestamp: str | None = Field(description="null: nobody has made it")


class QueuedJob(Shown):
    """A job that waits in a queue."""

    id: str
    name: str
    position: int | None = Field(description="its place in the queue, from 1")
    priority: int
    user: str
    backend: str
    phase: str
    reason: str
    message: str = Field(description="exactly why it waits")
    creation_timestamp: str


class QueueStatus(Shown):
    """How a queue stands."""

    state: str = Field(description="Open, Paused or Draining")
    running: int
    waiting: int
    used: Json = Field(description="what its jobs use now, by resource")
    gpu_hours_used: float = Field(description="in this month, in UTC")
    jobs: list[QueuedJob] = Field([], description="the first 1000 that wait; not in a list")


class ManagedQueue(Shown):
    """A managed queue."""

    api_version: str
    kind: str
    metadata: QueueMetadata
    spec: Json
    status: QueueStatus


class ManagedQueues(Shown):
    """All managed queues, by name."""

    items: list[ManagedQueue]


class QueueChange(BaseModel):
    """What a job waits with; what is not given stays."""

    model_config = ConfigDict(extra="forbid")

    priority: int | None = Field(None, ge=-INT32, lt=INT32, description="-1000 to 1000")
    queue: str | None = Field(None, max_length=63)


def add_managed_queue_routes(api: Api, engine: Engine) -> None:
    """The routes of queues, and the one that changes how a job waits."""
    queues = engine.queues
    path = f"{BASE_PATH}/queues/{{name}}"
    described: dict[str, Any] = {"tags": ["queues"], "response_model": ManagedQueue}

    @api.get(f"{BASE_PATH}/managed-queues", tags=["queues"], response_model=ManagedQueues)
    async def all_queues() -> Response:
        """List all managed queues, by name, without the jobs that wait in them."""
        return JsonAnswer({"items": queues.all()})

    @api.get(path, **described)
    async def get_queue(name: str) -> Response:
        """Show a queue, with the jobs that wait in it and exactly why."""
        return JsonAnswer(queues.get(name))

    @api.put(path, **described)
    async def apply_queue(name: str, body: QueueRequest) -> Response:
        """Make a queue, or change the one of that name; whether it is open stays as it is."""
        obj = body.model_dump(by_alias=True)
        given = body.metadata.get("name")
        is_name = isinstance(given, str) and re.fullmatch(NAME, given)
        if is_name and given != name:  # what is no name at all is told as such
            raise UsageError("the name is not that of the path", field="metadata.name")
        return JsonAnswer(await queues.apply(obj))

    @api.delete(path, **described)
    async def delete_queue(name: str) -> Response:
        """Forget a queue in which there is no job."""
        return JsonAnswer(await queues.delete(name))

    @api.post(f"{path}/pause", **described)
    async def pause_queue(name: str) -> Response:
        """Let no job of the queue start; what runs goes on."""
        return JsonAnswer(await queues.set_state(name, QueueState.PAUSED))

    @api.post(f"{path}/resume", **described)
    async def resume_queue(name: str) -> Response:
        """Let jobs come in and start again."""
        return JsonAnswer(await queues.set_state(name, QueueState.OPEN))

    @api.post(f"{path}/drain", **described)
    async def drain_queue(name: str) -> Response:
        """Take in no more jobs; those that wait still start."""
        return JsonAnswer(await queues.set_state(name, QueueState.DRAINING))

    @api.post(f"{BASE_PATH}/jobs/{{ref}}/queue", tags=["jobs"], response_model=models.Job)
    async def change(ref: str, body: QueueChange) -> Response:
        """Give a job another priority or another queue; the next decision goes by it."""
        return JsonAnswer(await engine.setting.set(ref, body.priority, body.queue))
