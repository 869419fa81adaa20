"""The JSON of requests, read strictly: what cannot be stored, shown or run is refused at the door.

Python's own reader takes more than JSON has: halves of surrogate pairs, NaN, numbers without end.
Whatever of that got in would fail much later, wherever it is written out again.
"""

import asyncio
import json
import re
from math import isfinite
from typing import Any, Final

from starlette.requests import Request

from trainway.errors import UsageError

MAX_DEPTH: Final = 200
"""How many levels of nesting there may be, as in manifests."""
MOST_VALUES: Final = 1_100_000
"""How many values there may be, so that no request keeps the server busy or fills its memory: ten
million empty objects are 30 MB of text, and two gigabytes as values. The longest list that a route
takes has a million."""
QUICK: Final = 64 << 10
"""How many bytes are read so fast that a thread of their own would take longer."""
_PUNCTUATION: Final = (b",", b"{", b"[")
"""Every value but the first has one of these before it."""
_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
"""With one that is never ended, so that no text is looked through twice."""
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_NUMBERS: Final = range(-(2**63), 2**64)
_MOST_DIGITS: Final = 20
_ENDLESS: Final = float("inf")
_FILES: Final = ("data", "stringData", "binaryData")
"""The fields of ConfigMaps and Secrets that hold files, which may have any character in them."""

Step = str | int


class MalformedError(UsageError):
    """A request is not of the form it should have."""

    http_status = 422


class StrictRequest(Request):
    """A request whose JSON is read strictly."""

    async def json(self) -> Any:
        """The body; MalformedError says what is wrong, and where."""
        if not hasattr(self, "_strict"):
            body = await self.body()
            is_quick = len(body) <= QUICK
            self._strict = (
                strict_json(body) if is_quick else await asyncio.to_thread(strict_json, body)
            )
        return self._strict


def strict_json(body: bytes) -> Any:
    """The value of a body."""
    if _has_too_many_values(body):
        raise MalformedError(
            f"the body has more than {MOST_VALUES:,} values",
            hint="send several requests; a long table belongs into a file",
        )
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise MalformedError("the body is not UTF-8") from None
    try:
        value = json.loads(text, parse_int=_integer)
    except RecursionError:
        raise MalformedError(f"it is nested more than {MAX_DEPTH} levels deep") from None
    wrong = _wrong(value, ())
    if wrong is not None:
        problem, steps = wrong
        raise MalformedError(problem, field=field_path(steps))
    return value


def _has_too_many_values(body: bytes) -> bool:
    """Whether a body has more values than may be, told before any of them is made.

    Commas and brackets stand for them, and those within strings only count until it matters.
    """
    if _punctuation(body) <= MOST_VALUES:
        return False
    return _punctuation(_STRING.sub(b"", body)) > MOST_VALUES


def _punctuation(text: bytes) -> int:
    return sum(text.count(mark) for mark in _PUNCTUATION)


def check_words(request: Request) -> None:
    """Refuse what no store takes in the words around the body."""
    for name, value in (
        *request.path_params.items(),
        *request.query_params.multi_items(),
        *request.headers.items(),
    ):
        problem = _text_problem(name) or _text_problem(str(value))
        if problem:
            raise MalformedError(problem, field=field_path((name,)))


def field_path(steps: tuple[Step, ...]) -> str | None:
    """Steps as people write them: `objects[0].metadata.name`."""
    path = "".join(
        f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps
    ).removeprefix(".")
    return path.encode("utf-8", "backslashreplace").decode() or None


def _integer(text: str) -> float:
    """An integer of 64 bits; any other is as wrong as infinity."""
    if len(text) > _MOST_DIGITS:
        return _ENDLESS
    number = int(text)
    return number if number in _NUMBERS else _ENDLESS


def _wrong(value: Any, steps: tuple[Step, ...]) -> tuple[str, tuple[Step, ...]] | None:
    """The first thing that cannot be taken, and the way to it."""
    if isinstance(value, str):
        problem = _text_problem(value, is_file=_is_file(steps))
        return (problem, steps) if problem else None
    if isinstance(value, float):
        return None if isfinite(value) else ("it must be a finite number of 64 bits", steps)
    if not isinstance(value, dict | list):
        return None
    if len(steps) >= MAX_DEPTH:
        return f"it is nested more than {MAX_DEPTH} levels deep", steps[:10]
    for step, item in value.items() if isinstance(value, dict) else enumerate(value):
        problem = _text_problem(step) if isinstance(step, str) else ""
        if problem:
            return f"the name of a field: {problem}", (*steps, step)
        found = _wrong(item, (*steps, step))
        if found is not None:
            return found
    return None


def _is_file(steps: tuple[Step, ...]) -> bool:
    """Whether it is a value of a ConfigMap or Secret: `objects[0].data.x`."""
    return len(steps) == 4 and steps[0] == "objects" and steps[2] in _FILES


def _text_problem(text: str, *, is_file: bool = False) -> str:
    if not text.isascii() and _SURROGATE.search(text):
        return "half of a surrogate pair is not a character"
    if not is_file and "\0" in text:
        return "the character U+0000 is not allowed"
    return ""
