"""Errors as answers: one JSON shape for all of them, with the HTTP status of the error.

    {"error": {"code": "...", "message": "...", "field": "..." | null, "hint": "..." | null}}

An error with many reasons lists them as `errors`, beside it.
"""

import errno
import logging
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request

from trainway.errors import InvalidError, TrainwayError
from trainway.server.json_answer import JsonAnswer

log = logging.getLogger(__name__)

_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
_CODES: Final = {404: "not_found", 405: "usage", 413: "usage"}


def answer(
    status: int,
    code: str,
    message: str,
    field: str | None = None,
    hint: str | None = None,
) -> JsonAnswer:
    """An error as an answer."""
    error = {"code": code, "message": message, "field": field, "hint": hint}
    return JsonAnswer({"error": error}, status)


def answer_for(error: TrainwayError) -> JsonAnswer:
    """The answer that one of our errors gives."""
    shown = {
        "code": error.code,
        "message": error.message,
        "field": error.field,
        "hint": error.hint,
    }
    lines = {"errors": list(error.lines)} if isinstance(error, InvalidError) else {}
    return JsonAnswer({"error": shown, **lines}, error.http_status)


async def answer_failure(request: Request, error: Exception) -> JsonAnswer:
    """The answer to a request that failed, in whatever way."""
    if isinstance(error, TrainwayError):
        return answer_for(error)
    if isinstance(error, HTTPException):
        return answer(error.status_code, _CODES.get(error.status_code, "error"), str(error.detail))
    if isinstance(error, OSError) and error.errno in _FULL:
        where = f"the disk of {error.filename}" if error.filename else "the server's disk"
        hint = "free some space there, then try again"
        return answer(503, "unavailable", f"{where} is full", hint=hint)
    named = request.path_params.get("job")
    fields = {"job": named} if isinstance(named, str) else {}
    log.error("%s %s failed", request.method, request.url.path, exc_info=error, extra=fields)
    hint = "the server's log has more: trainway server logs"
    return answer(500, "internal", f"the server failed: {type(error).__name__}", hint=hint)


HANDLERS: Final = dict.fromkeys((TrainwayError, HTTPException, OSError, Exception), answer_failure)
"""Makes every failure of an application an answer of this shape."""
