"""What the server answers, back into the error that it raised; and errors with more to them.

The tree is that of `trainway.errors`. A code that this client does not know keeps its message.
"""

import json
from collections.abc import Sequence
from typing import Any, Final

from trainway import errors
from trainway.errors import InvalidError, NotFoundError, TrainwayError

_LONGEST_LINE: Final = 2_000
_LONGEST_BODY: Final = 300
_MALFORMED: Final = 422
"""A request of another form: its message says what is wrong, and only `field` says where."""


class JobFailedError(errors.JobFailedError):
    """The job ended badly; `log` has the last lines of the node that failed."""

    def __init__(self, message: str, *, log: Sequence[str] = (), hint: str | None = None) -> None:
        shown = (f"  {line[:_LONGEST_LINE]}" for line in log)
        super().__init__("\n".join([message, *shown]), hint=hint)
        self.log = tuple(log)


class WaitTimeoutError(errors.WaitTimeoutError, TimeoutError):
    """The job did not end before the timeout; it keeps running."""


def from_response(status: int, body: bytes) -> TrainwayError:
    """The error that an answer of the server stands for."""
    answer = _answer(body)
    error = answer.get("error")
    if not isinstance(error, dict):
        text = str(answer.get("detail") or body.decode(errors="replace").strip())[:_LONGEST_BODY]
        kind = NotFoundError if status == 404 else TrainwayError
        return kind(text or f"the server answered with HTTP status {status}")
    message = str(error.get("message") or f"the server answered with HTTP status {status}")
    field, hint = _text(error.get("field")), _text(error.get("hint"))
    kind = _BY_CODE.get(str(error.get("code")), TrainwayError)
    if kind is InvalidError:
        return InvalidError(_lines(answer.get("errors")) or [message], hint=hint)
    if status == _MALFORMED and field:
        message = f"{field}: {message}"
    return kind(message, field=field, hint=hint)


_SIMPLE: Final = (
    errors.UsageError,
    errors.UnreadableError,
    errors.InvalidError,
    errors.ForbiddenError,
    errors.NotFoundError,
    errors.ConflictError,
    errors.UnavailableError,
    errors.DatabaseError,
    errors.JobFailedError,
    errors.WaitTimeoutError,
)
_BY_CODE: Final[dict[str, type[TrainwayError]]] = {kind.code: kind for kind in _SIMPLE}


def _answer(body: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(body)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _lines(value: object) -> list[str]:
    return [str(line) for line in value] if isinstance(value, list) else []


def _text(value: object) -> str | None:
    return str(value) if value else None
