from dataclasses import dataclass

import orjson
import pytest

from trainway.kube import errors
from trainway.kube.errors import ApiError, from_status


@dataclass(frozen=True)
class Case:
    name: str
    status: int
    reason: str
    kind: type[ApiError]


@pytest.mark.parametrize(
    "case",
    [
        Case("malformed", 400, "BadRequest", ApiError),
        Case("who are you", 401, "Unauthorized", errors.Unauthorized),
        Case("forbidden", 403, "Forbidden", errors.Refused),
        Case("missing", 404, "NotFound", errors.ObjectNotFound),
        Case("changed meanwhile", 409, "Conflict", errors.Conflict),
        Case("there already", 409, "AlreadyExists", errors.AlreadyExists),
        Case("forgotten", 410, "Expired", errors.Gone),
        Case("forgotten, of old", 410, "Gone", errors.Gone),
        Case("invalid", 422, "Invalid", errors.InvalidObject),
        Case("busy", 429, "TooManyRequests", errors.Throttled),
        Case("failed", 500, "InternalError", errors.ServerUnavailable),
        Case("not ready", 503, "ServiceUnavailable", errors.ServerUnavailable),
        Case("too slow", 504, "Timeout", errors.ServerUnavailable),
    ],
    ids=lambda case: case.name,
)
def test_kind_of_error(case: Case) -> None:
    body = {
        "kind": "Status",
        "code": case.status,
        "reason": case.reason,
        "message": "it is\nso",
        "details": {"name": "x"},
    }
    error = from_status(case.status, orjson.dumps(body))
    assert type(error) is case.kind
    assert (error.status, error.reason, error.message) == (case.status, case.reason, "it is so")
    assert error.details == {"name": "x"}
    assert vars(from_status(case.status, body)) == vars(error)


def test_an_answer_that_is_no_status() -> None:
    error = from_status(502, b"<html>\n bad gateway</html>")
    assert type(error) is errors.ServerUnavailable
    assert error.message == "<html> bad gateway</html>"


def test_an_empty_answer() -> None:
    assert from_status(418, b"").message == "HTTP status 418"
    assert from_status(404, b"[]").message == "[]"
