import json
from typing import Any

import pytest

from trainway import errors
from trainway.errors import TrainwayError
from trainway.sdk.failures import from_response


def body(code: str, **more: Any) -> bytes:
    return json.dumps({"error": {"code": code, "message": "no", "field": None, **more}}).encode()


@pytest.mark.parametrize(
    "kind",
    [
        errors.UsageError, errors.NotFoundError, errors.ForbiddenError, errors.ConflictError,
        errors.UnavailableError, errors.WaitTimeoutError, errors.TrainwayError,
    ],
)  # fmt: skip
def test_a_code_becomes_its_class_again(kind: type[TrainwayError]) -> None:
    error = from_response(400, body(kind.code, field="spec.x", hint="do y"))
    assert type(error) is kind
    assert (error.message, error.field, error.hint) == ("no", "spec.x", "do y")


def test_what_is_wrong_with_the_form_of_a_request_is_told_with_its_field() -> None:
    error = from_response(422, body("usage", message="it is too large", field="workers"))
    assert (error.message, error.field) == ("workers: it is too large", "workers")


def test_objects_that_are_refused_have_a_line_each() -> None:
    answer = json.loads(body("invalid")) | {"errors": ["TrainJob/a: spec.x: no", "b"]}
    error = from_response(422, json.dumps(answer).encode())
    assert isinstance(error, errors.InvalidError)
    assert error.lines == ("TrainJob/a: spec.x: no", "b")


def test_a_refusal_without_lines_has_its_message() -> None:
    error = from_response(422, body("invalid"))
    assert isinstance(error, errors.InvalidError)
    assert error.lines == ("no",)


@pytest.mark.parametrize(
    ("status", "content", "kind", "message"),
    [
        (500, b"Internal Server Error", TrainwayError, "Internal Server Error"),
        (500, b"", TrainwayError, "the server answered with HTTP status 500"),
        (404, b'{"detail": "Not Found"}', errors.NotFoundError, "Not Found"),
        (418, body("teapot"), TrainwayError, "no"),
        (500, b"[]", TrainwayError, "[]"),
        (500, b"\xff" * 999, TrainwayError, "\N{REPLACEMENT CHARACTER}" * 300),
    ],
)
def test_any_other_answer_is_an_error_too(
    status: int, content: bytes, kind: type[TrainwayError], message: str
) -> None:
    error = from_response(status, content)
    assert (type(error), error.message) == (kind, message)
