"""The webhooks as an application: which path asks about what.

The paths are upstream's, so its webhook configurations work too. A webhook that fails is answered
with a refusal, never with a broken connection, so that whoever asked reads the reason.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Final, Protocol

import orjson
from aiohttp import web

from trainway.api.trainjob import TrainJob
from trainway.compiler.trainjob import Target, runtime_kind_error
from trainway.errors import TrainwayError
from trainway.json_types import Json
from trainway.operator.context import Context
from trainway.operator.webhooks import mpijob, runtime, trainjob
from trainway.operator.webhooks.lookups import Lookups
from trainway.operator.webhooks.parsing import parsed
from trainway.operator.webhooks.paths import (
    MUTATE_MPIJOB,
    MUTATE_TRAINJOB,
    VALIDATE_CLUSTER_TRAINING_RUNTIME,
    VALIDATE_MPIJOB,
    VALIDATE_TRAINING_RUNTIME,
    VALIDATE_TRAINJOB,
)
from trainway.operator.webhooks.review import (
    Question,
    UnreadableReviewError,
    allowed,
    denied,
    failed,
    read_review,
)
from trainway.operator.webhooks.trainjob import Facts
from trainway.telemetry.log_subject import Fields, about

LARGEST_REVIEW: Final = 16 * 1024 * 1024
"""The most bytes of a review: twice what etcd can hold of an object, with room."""
LOOKUP_SECONDS: Final = 8.0
"""How long a lookup may take: less than the API server waits for an answer."""

_log = logging.getLogger(__name__)

Review = Callable[[Question], Awaitable[Json]]


class FactFinder(Protocol):
    """Reads what an answer depends on."""

    async def facts(self, question: Question, job: TrainJob) -> Facts:
        """What to judge the job by."""
        ...


class Observer(Protocol):
    """Counts answers."""

    def webhook_answered(self, path: str, code: int, seconds: float) -> None:
        """The API server had an answer."""
        ...

    def reviewed(self, kind: str, *, allowed: bool) -> None:
        """An object was let through or refused."""
        ...


def build_app(context: Context) -> web.Application:
    """The application of an operator."""
    return webhook_app(Lookups(context.client), context.now, context.metrics)


def webhook_app(
    lookups: FactFinder, now: Callable[[], datetime], observer: Observer | None = None
) -> web.Application:
    """The application that answers the API server."""
    webhooks = _Webhooks(lookups, now)
    app = web.Application(client_max_size=LARGEST_REVIEW)
    for path, kind, review in (
        (MUTATE_TRAINJOB, "TrainJob", webhooks.default_trainjob),
        (VALIDATE_TRAINJOB, "TrainJob", webhooks.validate_trainjob),
        (VALIDATE_TRAINING_RUNTIME, "TrainingRuntime", webhooks.validate_runtime),
        (VALIDATE_CLUSTER_TRAINING_RUNTIME, "ClusterTrainingRuntime", webhooks.validate_runtime),
        (MUTATE_MPIJOB, "MPIJob", webhooks.default_mpijob),
        (VALIDATE_MPIJOB, "MPIJob", webhooks.validate_mpijob),
    ):
        app.router.add_post(path, _handler(path, kind, review, observer))
    return app


class _Webhooks:
    def __init__(self, lookups: FactFinder, now: Callable[[], datetime]) -> None:
        self._lookups = lookups
        self._now = now
        self._target = Target()

    async def default_trainjob(self, question: Question) -> Json:
        return trainjob.default(question, f"{self._now():%Y-%m-%dT%H:%M:%SZ}")

    async def validate_trainjob(self, question: Question) -> Json:
        if not trainjob.needs_validation(question):
            return allowed(question)
        job = parsed(trainjob.as_stored(question.object), TrainJob)
        if isinstance(job, list):
            return denied(question, job)
        wrong_kind = runtime_kind_error(job)
        if wrong_kind is not None:
            return denied(question, [wrong_kind])
        facts = await self._lookups.facts(question, job)
        return trainjob.validate(question, job, facts, self._target)

    async def validate_runtime(self, question: Question) -> Json:
        return runtime.validate(question)

    async def default_mpijob(self, question: Question) -> Json:
        return mpijob.default(question)

    async def validate_mpijob(self, question: Question) -> Json:
        return mpijob.validate(question)


def _handler(
    path: str, kind: str, review: Review, observer: Observer | None
) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def handle(request: web.Request) -> web.Response:
        start = time.perf_counter()
        response = await answered(request)
        if observer is not None:
            observer.webhook_answered(path, response.status, time.perf_counter() - start)
        return response

    async def answered(request: web.Request) -> web.Response:
        try:
            question = read_review(await request.read())
        except UnreadableReviewError as error:
            return web.Response(status=400, text=error.message)
        with about(_fields(question, kind)):
            answer = await _answer(question, kind, review)
        if observer is not None:
            observer.reviewed(kind, allowed=answer["response"]["allowed"])
        return web.Response(body=orjson.dumps(answer), content_type="application/json")

    return handle


def _fields(question: Question, kind: str) -> Fields:
    """What lines of the log have that are about a review."""
    metadata = question.object.get("metadata") or {}
    name = metadata.get("name") or metadata.get("generateName") or ""
    namespace = metadata.get("namespace") or ""
    noun = "runtime" if kind.endswith("Runtime") else "job"
    return {"kind": kind, "namespace": str(namespace), noun: str(name)}


async def _answer(question: Question, kind: str, review: Review) -> Json:
    try:
        async with asyncio.timeout(LOOKUP_SECONDS):
            return await review(question)
    except TrainwayError as error:
        _log.warning("cannot review a %s: %s", kind, error.message)
        return failed(question, error.message)
    except TimeoutError:
        _log.warning("cannot review a %s: reading from the cluster takes too long", kind)
        return failed(question, "reading from the cluster takes too long")
    except Exception as error:  # noqa: BLE001 (whoever asked must get an answer)
        _log.exception("reviewing a %s failed", kind)
        return failed(question, f"internal error: {type(error).__name__}")
