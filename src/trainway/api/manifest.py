"""Text to objects: YAML documents or JSON, as people write them for kubectl.

Anything unreadable is a `ManifestError` of one line that says where. JSON takes a quick way of its
own; whatever is unusual about it (a key twice, nested too deep, not JSON after all) sends it down
the way of YAML, which knows line and column.
"""

import json
from collections.abc import Iterator
from math import isfinite
from typing import Any, Final

from trainway.api.document import MAX_DEPTH, Document, Places, Steps, place
from trainway.api.yaml_scalar import INT64, integral
from trainway.errors import ManifestError

__all__ = ["ManifestError", "object_places", "parse_manifests"]

_MOST_DIGITS: Final = 20
_SPACE: Final = " \t\r\n"


def parse_manifests(text: str) -> list[dict[str, Any]]:
    """The objects of a text, in order. Lists are opened and empty documents left out."""
    text = text.removeprefix("\ufeff")
    start = len(text) - len(text.lstrip(_SPACE))
    document = _json_document(text, start) if text[start : start + 1] in ("{", "[") else None
    objects: list[dict[str, Any]] = []
    for value, line, column in [document] if document else _yaml_documents(text):
        if value is not None:
            objects.extend(_flatten(value, "the document", line, column))
    return objects


def object_places(text: str) -> list[Places]:
    """Where the fields of each object stand, in the order of `parse_manifests`.

    Slower than reading the objects, so for texts in which something was wrong. Empty where the text
    cannot be read as YAML, as some JSON cannot.
    """
    from trainway.api.yaml_composer import compose  # noqa: PLC0415 - see below

    found: list[Places] = []
    try:
        documents = list(compose(text.removeprefix("\ufeff"), places=found))
    except ManifestError:
        return []
    return [
        places.below(steps) if steps else places
        for (value, _, _), places in zip(documents, found, strict=True)
        if value is not None
        for steps in _object_steps(value, ())
    ]


def _object_steps(value: Any, steps: Steps) -> Iterator[Steps]:
    """The way to each object in a document: a List has several."""
    if not _is_list(value):
        yield steps
        return
    for index, item in enumerate(value["items"] or ()):
        yield from _object_steps(item, (*steps, "items", index))


def _is_list(value: dict[str, Any]) -> bool:
    kind = value.get("kind")
    return isinstance(kind, str) and kind.endswith("List") and "items" in value


def _yaml_documents(text: str) -> Iterator[Document]:
    from trainway.api.yaml_composer import compose  # noqa: PLC0415 - slow; JSON does without

    return compose(text)


def _flatten(value: Any, what: str, line: int, column: int) -> Iterator[dict[str, Any]]:
    if not isinstance(value, dict):
        raise ManifestError(f"{what} must be an object, not {_type(value)}", line, column)
    if not _is_list(value):
        yield value
        return
    items = value["items"]
    if not (items is None or isinstance(items, list)):
        raise ManifestError(f"the items of a List must be a list, not {_type(items)}", line, column)
    for index, item in enumerate(items or ()):
        yield from _flatten(item, f"items[{index}] of the List", line, column)


def _type(value: Any) -> str:
    match value:
        case None:
            return "null"
        case dict():
            return "an object"
        case list():
            return "a list"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case _:
            return "text"


class _UnusualError(ValueError):
    """The quick way gives up."""


def _json_document(text: str, start: int) -> Document | None:
    """The value of a text that is plain JSON; None if it is not."""
    try:
        if not text.isascii():
            text.encode()
        value = _DECODER.decode(text)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):  # half a surrogate pair is a ValueError as well
        return None
    return None if _too_deep(value) else (value, *place(text, start))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise _UnusualError
    return value


def _float(text: str) -> int | float:
    number = float(text)
    if not isfinite(number):
        raise _UnusualError
    return integral(number)


def _integer(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise _UnusualError
    number = int(text)
    if number not in INT64:
        raise _UnusualError
    return number


def _constant(text: str) -> float:
    raise _UnusualError(text)


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_float=_float,
    parse_int=_integer,
    parse_constant=_constant,
)


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for item in level
            for child in (item.values() if isinstance(item, dict) else item)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True
