"""The JSON patch (RFC 6902) that leads from one value to another.

Only what defaulting needs: fields that come, go or change. A list of another length is replaced
as a whole.
"""

from collections.abc import Iterator
from typing import Any

from trainway.json_types import Json


def json_patch(before: Any, after: Any, path: str = "") -> list[Json]:
    """The operations, parents before children."""
    return list(_operations(before, after, path))


def _operations(before: Any, after: Any, path: str) -> Iterator[Json]:
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _fields(before, after, path)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _operations(old, new, f"{path}/{index}")
    elif before != after or type(before) is not type(after):
        yield {"op": "replace", "path": path, "value": after}


def _fields(before: Json, after: Json, path: str) -> Iterator[Json]:
    for name, old in before.items():
        where = f"{path}/{_escaped(name)}"
        if name in after:
            yield from _operations(old, after[name], where)
        else:
            yield {"op": "remove", "path": where}
    for name, new in after.items():
        if name not in before:
            yield {"op": "add", "path": f"{path}/{_escaped(name)}", "value": new}


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
