"""Requests as SkyPilot's programs handle them: an id first, and its result when it is asked for."""

import os
from typing import Any, Generic, Self, TypeVar

from trainway.errors import UsageError

T = TypeVar("T")


class RequestId(str, Generic[T]):  # noqa: SLOT000 - its result is an attribute
    """The id of a request that is over, with its result."""

    result: T

    def __new__(cls, result: T) -> Self:
        """An id that nobody has."""
        made = super().__new__(cls, os.urandom(16).hex())
        made.result = result
        return made


def get(request_id: RequestId[T]) -> T:
    """The result of a request."""
    if not isinstance(request_id, RequestId):
        raise UsageError(
            f"{request_id!r} is not the id of a request of this process",
            hint="pass on what a call has returned",
        )
    return request_id.result


def stream_and_get(request_id: RequestId[T], *_: Any, **__: Any) -> T:
    """The same; there is nothing more to print, since the request is over."""
    return get(request_id)
