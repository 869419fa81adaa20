"""Fetches what clouds publish: over https only, with a limit of size and time."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from trainway.errors import UnavailableError, UnreadableError, UsageError
from trainway.json_types import Json

_TIMEOUT_S: Final = 60.0
_MOST: Final = 4 << 30
_MOST_PAGE: Final = 256 << 20


class _Body(Protocol):
    """What a server answers."""

    def __iter__(self) -> Iterator[bytes]: ...

    def read(self, amount: int) -> bytes:
        """Some of it."""
        ...


def lines(url: str) -> Iterator[str]:
    """The lines of a text, one after the other, however long it is."""
    size = 0
    with _opened(url) as answer:
        for line in answer:
            size += len(line)
            if size > _MOST:
                raise UnreadableError(f"{_shown(url)} is larger than {_MOST >> 30} GiB")
            yield line.decode("utf-8", errors="replace")


def page(url: str) -> Json:
    """A page of JSON."""
    with _opened(url) as answer:
        body = answer.read(_MOST_PAGE + 1)
    if len(body) > _MOST_PAGE:
        raise UnreadableError(f"{_shown(url)} is larger than {_MOST_PAGE >> 20} MiB")
    try:
        found = json.loads(body)
    except ValueError:
        raise UnreadableError(f"{_shown(url)} is no JSON") from None
    if not isinstance(found, dict):
        raise UnreadableError(f"{_shown(url)} is not a JSON object")
    return found


def content(url: str) -> bytes:
    """A whole file."""
    with _opened(url) as answer:
        body = answer.read(_MOST_PAGE + 1)
    if len(body) > _MOST_PAGE:
        raise UnreadableError(f"{_shown(url)} is larger than {_MOST_PAGE >> 20} MiB")
    return body


@contextmanager
def _opened(url: str) -> Iterator[_Body]:
    if not url.startswith("https://"):
        raise UsageError(
            f"{_shown(url)} is not an https:// address", hint="name one that begins with https://"
        )
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT_S) as answer:  # noqa: S310 - https only
            yield answer
    except (urllib.error.URLError, TimeoutError, OSError) as error:
        reason = getattr(error, "reason", None) or error
        raise UnavailableError(
            f"{_shown(url)} cannot be fetched: {reason}",
            hint="Try again later, or give a file with --from.",
        ) from None


def _shown(url: str) -> str:
    """The address without its query, in which a key may be."""
    return url.partition("?")[0]
