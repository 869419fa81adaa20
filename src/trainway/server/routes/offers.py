"""What a job can name on a backend: training runtimes, and queues with their quota."""

import asyncio
from typing import Final

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from trainway.backends import capabilities
from trainway.backends.base import Backend
from trainway.backends.queues import HasQueues, Queue
from trainway.engine.jobs import Engine
from trainway.errors import TrainwayError, UnavailableError
from trainway.json_types import Json
from trainway.server.api import Api
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import Shown
from trainway.server.paths import BASE_PATH

_LOOK_S: Final = 15.0


class OfferRequest(BaseModel):
    """Where to look."""

    model_config = ConfigDict(extra="forbid")

    backend: str = Field(max_length=253)


class QueueQuota(Shown):
    """What a queue may use of a resource, and what it uses."""

    flavor: str
    resource: str
    nominal: str
    used: str
    borrowed: str = Field(description="what is used beyond the nominal quota, of a cohort")


class QueueInfo(Shown):
    """A queue of the backend."""

    name: str
    namespace: str
    cluster_queue: str
    pending: int
    admitted: int
    problem: str = Field(description="why nothing is admitted; empty: it is open")
    quotas: list[QueueQuota]


class Offer(Shown):
    """What jobs can name there."""

    namespace: str = Field(description="where a job goes that names none; empty: there are none")
    runtimes: list[Json] = Field(description="those of the backend; the built-in ones count too")
    queues: list[QueueInfo]
    problem: str = Field(description="why it could not be asked; empty: it could")


def add_offer_routes(api: Api, engine: Engine) -> None:
    """The route that asks a backend."""

    @api.post(f"{BASE_PATH}/backends/offer", tags=["server"], response_model=Offer)
    async def offer(body: OfferRequest) -> Response:
        """What a backend offers to jobs. A cluster is asked, as `check` does."""
        backend = engine.registry.get(body.backend)
        try:
            async with asyncio.timeout(_LOOK_S):
                return JsonAnswer(await _offer(backend))
        except TimeoutError:
            problem = UnavailableError(f"{backend.name} does not answer").sentence
        except TrainwayError as error:
            problem = error.sentence
        return JsonAnswer({"namespace": "", "runtimes": [], "queues": [], "problem": problem})


async def _offer(backend: Backend) -> Json:
    if not isinstance(backend, HasQueues):
        return {"namespace": "", "runtimes": [], "queues": [], "problem": ""}
    await capabilities.look(backend)
    return {
        "namespace": capabilities.namespace(backend, ""),
        "runtimes": backend.runtimes(),
        "queues": [queue_view(queue) for queue in await backend.queues()],
        "problem": "",
    }


def queue_view(queue: Queue) -> Json:
    """A queue as the API shows it."""
    quotas = [
        {
            "flavor": quota.flavor,
            "resource": quota.resource,
            "nominal": str(quota.nominal),
            "used": str(quota.used),
            "borrowed": str(quota.borrowed),
        }
        for quota in queue.quotas
    ]
    return {
        "name": queue.name,
        "namespace": queue.namespace,
        "clusterQueue": queue.cluster_queue,
        "pending": queue.pending,
        "admitted": queue.admitted,
        "problem": queue.problem,
        "quotas": quotas,
    }
