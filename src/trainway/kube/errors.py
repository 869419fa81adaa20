"""What the API server refuses, as exceptions that a caller can tell apart.

ApiError             any failure                                   code kubernetes
  Unauthorized       401: it does not know us
  Refused            403: a rule or a webhook forbids it
  ObjectNotFound     404
  Conflict           409: the object or a field of it is another's
  AlreadyExists      409: there is an object of that name
  Gone               410: the version asked for is forgotten
  InvalidObject      422: the object breaks its schema
  Throttled          429: too many requests
  ServerUnavailable  5xx, or nobody answers
    WatchSilent      a watch that may be dead
"""

# ruff: noqa: N818 - named as the API server names its reasons

from collections.abc import Mapping
from typing import Any

import orjson

from trainway.errors import TrainwayError

_LONGEST_TEXT = 1024


class ApiError(TrainwayError):
    """The API server refused a request, or did not answer."""

    code = "kubernetes"

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        reason: str = "",
        details: Mapping[str, Any] | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        """The HTTP status; it is 0 if there was no answer."""
        self.reason = reason
        self.details: Mapping[str, Any] = details or {}


class Unauthorized(ApiError):
    """The API server does not know who asks."""

    code = "unauthorized"
    http_status = 401


class Refused(ApiError):
    """A rule of the cluster or a webhook forbids it."""

    code = "forbidden"
    http_status = 403


class ObjectNotFound(ApiError):
    """There is no such object, or no such kind of object."""

    code = "not_found"
    exit_code = 3
    http_status = 404


class Conflict(ApiError):
    """The object has changed meanwhile, or a field of it belongs to another."""

    code = "conflict"
    http_status = 409


class AlreadyExists(ApiError):
    """There is an object of that name."""

    code = "conflict"
    http_status = 409


class Gone(ApiError):
    """The version asked for is so old that the API server has forgotten it."""

    code = "gone"
    http_status = 410


class InvalidObject(ApiError):
    """The object breaks its schema."""

    code = "invalid"
    http_status = 422


class Throttled(ApiError):
    """The API server has too much to do."""

    code = "unavailable"
    http_status = 503


class ServerUnavailable(ApiError):
    """Nobody answers, or the API server failed."""

    code = "unavailable"
    http_status = 503


class WatchSilent(ServerUnavailable):
    """A watch has said nothing for so long that its connection may be dead."""


_BY_STATUS: Mapping[int, type[ApiError]] = {
    401: Unauthorized,
    403: Refused,
    404: ObjectNotFound,
    409: Conflict,
    410: Gone,
    422: InvalidObject,
    429: Throttled,
}
_HINTS: Mapping[int, str] = {
    401: "the credentials of the kubeconfig are wrong or have expired",
}


def from_status(code: int, body: bytes | Mapping[str, Any]) -> ApiError:
    """The error of an answer: a Status object, or whatever a proxy sends in its place."""
    status = body if isinstance(body, Mapping) else _decoded(body)
    reason = _text(status.get("reason"))
    details = status.get("details")
    message = _text(status.get("message")) or reason or f"HTTP status {code}"
    if code == 409 and reason == "AlreadyExists":
        kind: type[ApiError] = AlreadyExists
    elif code >= 500:
        kind = ServerUnavailable
    else:
        kind = _BY_STATUS.get(code, ApiError)
    return kind(
        " ".join(message.split()),
        status=code,
        reason=reason,
        details=details if isinstance(details, Mapping) else None,
        hint=_HINTS.get(code),
    )


def _decoded(body: bytes) -> Mapping[str, Any]:
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        value = None
    if isinstance(value, dict):
        return value
    return {"message": body[:_LONGEST_TEXT].decode(errors="replace")}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
