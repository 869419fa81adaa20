"""Where training code in a cluster reports how far it is.

The wire format is that of Kubeflow Trainer's status server, so that its SDK and the transformers
callback work unchanged. A report replaces the one before: it is applied to the status of the
TrainJob by a field owner of its own. In place of a report, links may come: they are annotated.
"""

import asyncio
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Final, Protocol, cast

import orjson
from aiohttp import web

from trainway.api.kinds import KINDS
from trainway.errors import TrainwayError
from trainway.jobset.job_remarks import links_problem
from trainway.json_types import Json
from trainway.kube.client import Client
from trainway.kube.errors import ApiError, InvalidObject, ObjectNotFound
from trainway.kube.resources import TRAINJOBS
from trainway.operator.context import Context
from trainway.operator.registered_links import Linked, register
from trainway.operator.tokens import Tokens
from trainway.schema.defaulting import with_defaults
from trainway.schema.field import invalid
from trainway.schema.structural import Schema
from trainway.schema.validation import validate

PATH: Final = "/apis/trainer.kubeflow.org/v1alpha1/namespaces/{namespace}/trainjobs/{name}/status"
BODY_LIMIT: Final = 64 * 1024
PATIENCE_SECONDS: Final = 10.0
FIELD_OWNER: Final = "trainer-status"

_REASONS: Final[Mapping[int, str]] = {
    403: "Forbidden",
    404: "NotFound",
    408: "Timeout",
    413: "RequestEntityTooLarge",
    422: "Invalid",
    500: "InternalError",
}

_log = logging.getLogger(__name__)


class Writer(Linked, Protocol):
    """The part of a client that is needed here."""

    async def apply(self, obj: Json, *, field_manager: str, subresource: str = "") -> Json:
        """Server-side apply, with force."""
        ...


class Authorizer(Protocol):
    """Decides who may report."""

    async def permits(self, header: str, namespace: str, name: str) -> bool:
        """Whether the bearer of this Authorization header may report on the job."""
        ...


class RefusedReportError(TrainwayError):
    """A report that gets another answer than 200."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def read_body(body: bytes) -> Json:
    """The body of a report."""
    try:
        report = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise RefusedReportError(422, "Invalid payload") from None
    if not isinstance(report, dict):
        raise RefusedReportError(422, "Invalid payload: must be of type object")
    return report


def read_links(report: Json) -> Json:
    """The links that are registered."""
    links = report.get("links") or {}
    is_object = isinstance(links, dict)
    problem = links_problem(links) if is_object else "must be of type object"
    if problem:
        raise RefusedReportError(422, f"Invalid payload: links: {problem}")
    return cast("Json", links)


def read_report(report: Json) -> Json | None:
    """The trainer status in a report; None where it holds none."""
    status = report.get("trainerStatus")
    if status is None:
        return None
    known = _known_fields(_trainer_status(), with_defaults(_trainer_status(), status))
    errors = validate(_trainer_status(), known, path=("trainerStatus",)).errors
    if errors:
        raise RefusedReportError(422, f"Invalid payload: {'; '.join(map(str, errors))}")
    found = cast("Json", known)
    return found | {"lastUpdatedTime": _kubernetes_time(found["lastUpdatedTime"])}


def _kubernetes_time(text: str) -> str:
    """A time in seconds and UTC, as everything in Kubernetes writes it."""
    try:
        time = datetime.fromisoformat(text.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        path = ("trainerStatus", "lastUpdatedTime")
        error = invalid(path, text, "this time does not exist")
        raise RefusedReportError(422, f"Invalid payload: {error}") from None
    return f"{time:%Y-%m-%dT%H:%M:%SZ}"


@cache
def _trainer_status() -> Schema:
    """What the CRD says about a report."""
    schema = KINDS[TRAINJOBS.api_version, TRAINJOBS.kind].schema()
    return schema.properties["status"].properties["trainerStatus"]


def _known_fields(schema: Schema, value: object) -> object:
    """The value without fields that the schema does not have: a newer client may send some."""
    if isinstance(value, dict):
        known = schema.properties
        return {n: _known_fields(known[n], item) for n, item in value.items() if n in known}
    if isinstance(value, list) and schema.items is not None:
        return [_known_fields(schema.items, item) for item in value]
    return value


def status_application(namespace: str, name: str, trainer_status: Json) -> Json:
    """What is applied to the status of the TrainJob."""
    return {
        "apiVersion": TRAINJOBS.api_version,
        "kind": TRAINJOBS.kind,
        "metadata": {"name": name, "namespace": namespace},
        "status": {"trainerStatus": trainer_status},
    }


def failure(status: int, message: str) -> Json:
    """A refusal as Kubernetes words it."""
    return {
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": _REASONS[status],
        "code": status,
    }


def build_app(context: Context, client: Client | None = None) -> web.Application:
    """The application of an operator; `client` is one with its own limit of requests."""
    chosen = client or context.client
    return status_app(chosen, Tokens(chosen))


def status_app(client: Writer, authorizer: Authorizer) -> web.Application:
    """The application that takes reports."""
    server = _StatusServer(client, authorizer)
    app = web.Application(client_max_size=BODY_LIMIT)
    app.router.add_post(PATH, server.report)
    app.router.add_route("*", "/{tail:.*}", _no_such_path)
    return app


async def _no_such_path(_request: web.Request) -> web.Response:
    return _answer(404, failure(404, "Not found"))


class _StatusServer:
    def __init__(self, client: Writer, authorizer: Authorizer) -> None:
        self._client = client
        self._authorizer = authorizer

    async def report(self, request: web.Request) -> web.Response:
        namespace, name = request.match_info["namespace"], request.match_info["name"]
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                body = await request.read()
            header = request.headers.get("Authorization", "")
            if not await self._authorizer.permits(header, namespace, name):
                raise RefusedReportError(403, "Forbidden")
            report = read_body(body)
            links, status = read_links(report), read_report(report)
            if links:
                await self._register(namespace, name, links)
            if status is None:
                return _answer(200, {})
            await self._write(namespace, name, status)
        except web.HTTPRequestEntityTooLarge:
            return _answer(413, failure(413, "Payload too large"))
        except TimeoutError:
            return _answer(408, failure(408, "Request timed out"))
        except RefusedReportError as error:
            return _answer(error.status, failure(error.status, error.message))
        except ApiError as error:
            said = "cannot write the progress report of %s/%s: %s"
            fields = {"namespace": namespace, "job": name}
            _log.warning(said, namespace, name, error.message, extra=fields)
            return _answer(500, failure(500, "Internal error"))
        return _answer(200, {"trainerStatus": status})

    async def _register(self, namespace: str, name: str, links: Json) -> None:
        try:
            await register(self._client, namespace, name, links)
        except ObjectNotFound:
            raise RefusedReportError(404, "Train job not found") from None

    async def _write(self, namespace: str, name: str, status: Json) -> None:
        obj = status_application(namespace, name, status)
        try:
            await self._client.apply(obj, field_manager=FIELD_OWNER, subresource="status")
        except ObjectNotFound:
            raise RefusedReportError(404, "Train job not found") from None
        except InvalidObject as error:
            raise RefusedReportError(422, error.message) from None
        except ApiError as error:
            if error.status == 400:
                raise RefusedReportError(422, error.message) from None
            raise


def _answer(status: int, body: Json) -> web.Response:
    return web.Response(status=status, body=orjson.dumps(body), content_type="application/json")
