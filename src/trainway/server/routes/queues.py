"""Who waits for what: our own jobs by backend, and the queues that backends have beside ours."""

import asyncio
from typing import Final

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from trainway.backends.queues import QueueState, TellsQueues
from trainway.engine.jobs import Engine
from trainway.engine.phases import WAITING
from trainway.errors import TrainwayError, UnavailableError
from trainway.json_types import Json
from trainway.server.api import Api
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import Job, Shown
from trainway.server.paths import BASE_PATH
from trainway.server.routes.offers import QueueInfo, queue_view
from trainway.server.routes.overview import BackendUse, backend_uses

_LIMIT_S: Final = 20.0
_MOST: Final = 100
"""How many of those who wait are told of one queue."""


class JobQueue(BackendUse):
    """Jobs of this server that run or wait on a backend."""

    jobs: list[Job] = Field(description=f"the first {_MOST} that wait, in the order of the queue")


class JobQueues(Shown):
    """The jobs of this server by backend."""

    items: list[JobQueue]


class QueuesRequest(BaseModel):
    """Where to look."""

    model_config = ConfigDict(extra="forbid")

    backend: str = Field(max_length=253)


class WaiterInfo(Shown):
    """Somebody's job that waits."""

    name: str
    position: int
    reason: str
    since: str
    priority: int
    owner: str
    job: str = Field(description="the id of the job of this server; empty: another's")


class QueueDetail(QueueInfo):
    """A queue of the backend, with those who wait."""

    waiting: list[WaiterInfo] = Field(description=f"the first {_MOST}, in their order")
    total: int = Field(description="how many wait")


class BackendQueues(Shown):
    """The queues of a backend beside ours."""

    name: str
    queues: list[QueueDetail]
    tells: bool = Field(description="whether the backend has queues of its own at all")
    problem: str = Field(description="why they could not be listed; empty: they could")
    hint: str


def add_queue_routes(api: Api, engine: Engine) -> None:
    """The routes of the page of queues."""

    @api.get(f"{BASE_PATH}/queues", tags=["server"], response_model=JobQueues)
    async def own() -> Response:
        """The jobs of this server that wait, by backend and in order. No backend is asked."""
        found = await engine.reading.queues(_MOST)
        jobs = {name: load.pop("jobs") for name, load in found.items()}
        known = engine.registry.infras()
        names = [*known, *sorted(found.keys() - set(known))]
        uses = await asyncio.to_thread(backend_uses, engine, names, found)
        items = [{**use, "jobs": _ordered(jobs.get(use["name"], []))} for use in uses]
        return JsonAnswer({"items": items})

    @api.post(f"{BASE_PATH}/backends/queues", tags=["server"], response_model=BackendQueues)
    async def queues(body: QueuesRequest) -> Response:
        """The queues of a backend now, such as Kueue's, with who waits there and why."""
        backend = engine.registry.get(body.backend)
        if not isinstance(backend, TellsQueues):
            return JsonAnswer(_answer(backend.name, [], tells=False))
        error: TrainwayError = UnavailableError(
            f"{backend.name} does not answer", hint="the page Infra says what is wrong with it"
        )
        try:
            async with asyncio.timeout(_LIMIT_S):
                states = await backend.queue_states()
                ours = await _ours(engine, backend.name)
        except TimeoutError:
            pass
        except TrainwayError as raised:
            error = raised
        else:
            return JsonAnswer(_answer(backend.name, [_state(each, ours) for each in states]))
        return JsonAnswer(_answer(backend.name, [], problem=error.message, hint=error.hint or ""))


def _ordered(jobs: list[Json]) -> list[Json]:
    """Those first whose position is known."""
    return sorted(jobs, key=lambda job: job["status"].get("queuePosition") or _MOST * 1000)


def _answer(name: str, queues: list[Json], **more: object) -> Json:
    return {"name": name, "queues": queues, "tells": True, "problem": "", "hint": "", **more}


Submitted = tuple[str, str]
"""The namespace of an object that was submitted for a job, and its name."""


async def _ours(engine: Engine, name: str) -> dict[Submitted, str]:
    """The ids of our jobs that wait there, by the objects that were submitted for them."""
    records = await engine.reading.at(name, WAITING, _MOST * 5)
    handles = ((record.id, record.handle_data) for record in records)
    return {
        (str(handle.get("namespace") or ""), str(handle["top"])): id_
        for id_, handle in handles
        if handle.get("top")
    }


def _state(state: QueueState, ours: dict[Submitted, str]) -> Json:
    namespace = state.queue.namespace
    waiting = [
        {
            "name": waiter.name,
            "position": waiter.position,
            "reason": waiter.reason,
            "since": waiter.since,
            "priority": waiter.priority,
            "owner": waiter.owner,
            "job": ours.get((namespace, waiter.top), ""),
        }
        for waiter in state.waiting[:_MOST]
    ]
    total = max(len(state.waiting), state.queue.pending)
    return {**queue_view(state.queue), "waiting": waiting, "total": total}
