"""Errors as answers: one JSON shape for all of them, with the HTTP status of the error.

    {"error": {"code": "...", "message": "...", "field": "..." | null, "hint": "..." | null}}

An error with many reasons lists them as `errors`, beside it.
"""

import errno
import logging
from typing import Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

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


def add_handlers(app: FastAPI) -> None:
    """Make every failure of the app an answer of this shape."""

    @app.exception_handler(TrainwayError)
    async def ours(_request: Request, error: TrainwayError) -> JsonAnswer:
        return answer_for(error)

    @app.exception_handler(RequestValidationError)
    async def malformed(_request: Request, error: RequestValidationError) -> JsonAnswer:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"][1:])
        return answer(422, "usage", str(first["msg"]), field or None)

    @app.exception_handler(HTTPException)
    async def refused(_request: Request, error: HTTPException) -> JsonAnswer:
        if isinstance(error.__cause__, TrainwayError):  # what was wrong with the body
            return answer_for(error.__cause__)
        return answer(error.status_code, _CODES.get(error.status_code, "error"), str(error.detail))

    @app.exception_handler(OSError)
    async def no_room(request: Request, error: OSError) -> JsonAnswer:
        if error.errno not in _FULL:
            return await unforeseen(request, error)
        where = f"the disk of {error.filename}" if error.filename else "the server's disk"
        hint = "free some space there, then try again"
        return answer(503, "unavailable", f"{where} is full", hint=hint)

    @app.exception_handler(Exception)
    async def unforeseen(request: Request, error: Exception) -> JsonAnswer:
        log.error("%s %s failed", request.method, request.url.path, exc_info=error)
        hint = "the server's log has more: trainway server logs"
        return answer(500, "internal", f"the server failed: {type(error).__name__}", hint=hint)
