"""What is given with a job in pairs, and stands in the metadata of its object. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

from trainway.errors import UsageError
from trainway.json_types import Json
from trainway.sdk.manifests import JOB_KINDS

_KINDS: Final = (*JOB_KINDS, "Task")


def pairs(option: str, texts: Sequence[str], value_name: str, example: str) -> dict[str, str]:
    """What the texts `KEY=VALUE` of an option mean; the last one of a key counts."""
    found: dict[str, str] = {}
    for text in texts:
        key, has_value, value = text.partition("=")
        if not has_value:
            said = f"{option} {text}: the {value_name} is missing"
            raise UsageError(said, hint=f"write {text}={example}")
        found[key] = value
    return found


def with_metadata(objects: Sequence[Json], field: str, values: Mapping[str, str]) -> list[Json]:
    """The objects, with the values in a field of the job's metadata; its own of a key give way."""
    if not values:
        return list(objects)
    return [_with(obj, field, values) if obj.get("kind") in _KINDS else obj for obj in objects]


def _with(obj: Json, field: str, values: Mapping[str, str]) -> Json:
    metadata = obj.get("metadata")
    given = metadata if isinstance(metadata, dict) else {}
    known = given.get(field) if isinstance(given.get(field), dict) else {}
    return {**obj, "metadata": {**given, field: {**(known or {}), **values}}}
