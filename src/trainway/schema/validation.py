"""Checks an object against its schema, as the API server does for a custom resource.

All errors come at once, a parent's before its children's, fields in the order of the schema. Rules
(CEL) are asked only of values whose structure is sound, so no rule has to defend itself against a
wrong type. A field that is null counts as absent.
"""

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from trainway.schema.field import (
    ABSENT,
    ErrorType,
    FieldError,
    Path,
    duplicate,
    invalid,
    key_step,
    not_supported,
    out_of_limits,
    required,
    too_many,
)
from trainway.schema.structural import Schema

_SUGGESTION_CUTOFF = 0.6
_MISSPELT_CUTOFF = 0.8
"""How alike an unknown field of an open type must be to a known one to count as misspelt."""

_INT_RANGE = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}
_DATE_TIME = re.compile(
    r"^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$", re.ASCII
)


@dataclass
class Report:
    """What a check found. Errors refuse the object, warnings are only told."""

    errors: list[FieldError] = field(default_factory=list)
    warnings: list[FieldError] = field(default_factory=list)


def validate(schema: Schema, value: Any, old: Any = ABSENT, path: Path = ()) -> Report:
    """Check a value, and where there is a former one also the rules on how it may change."""
    walk = _Walk()
    walk.value(schema, value, old, path)
    return Report(walk.errors, walk.warnings)


def unknown_field(path: Path, known: Iterable[str]) -> FieldError:
    """The error for a field that does not exist, with the one that may have been meant."""
    meant = closest(str(path[-1]), known)
    return FieldError(path, ErrorType.UNKNOWN, f'did you mean "{meant}"?' if meant else "")


def closest(name: str, known: Iterable[str], cutoff: float = _SUGGESTION_CUTOFF) -> str | None:
    """The known name most like this one, if any is like it."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    found = difflib.get_close_matches(name.lower(), by_lower, 1, cutoff)
    return by_lower[found[0]] if found else None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """As Kubernetes reads it, where `$` is the very end and not the place before a line break."""
    if pattern.endswith("$"):
        pattern = pattern[:-1] + r"\Z"
    return re.compile(pattern, re.ASCII)


def type_name(value: Any) -> str:
    """The JSON type of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "integer" if value.is_integer() else "number"
        case str():
            return "string"
        case list():
            return "array"
        case Mapping():
            return "object"
    return type(value).__name__


class _Walk:
    def __init__(self) -> None:
        self.errors: list[FieldError] = []
        self.warnings: list[FieldError] = []
        self.unsound = 0
        """How many errors of structure there were so far: below them no rule is asked."""

    def value(self, schema: Schema, value: Any, old: Any, path: Path) -> None:
        start, unsound = len(self.errors), self.unsound
        if not self._has_type(schema, value, path):
            return
        if isinstance(value, dict):
            self._object(schema, value, old, path)
        elif isinstance(value, list):
            self._list(schema, value, old, path)
        else:
            self.errors.extend(_scalar_errors(schema, value, path))
        if schema.rules and self.unsound == unsound:
            self.errors[start:start] = _rule_errors(schema, value, old, path)

    def _has_type(self, schema: Schema, value: Any, path: Path) -> bool:
        name, wanted = type_name(value), schema.type
        if schema.int_or_string:
            wanted = "integer or string"
            fits = name in ("integer", "string")
        else:
            fits = not wanted or name == wanted or (wanted, name) == ("number", "integer")
        if not fits:
            self._structure(invalid(path, name, f"must be of type {wanted}"))
        return fits

    def _structure(self, error: FieldError) -> None:
        self.unsound += 1
        self.errors.append(error)

    def _object(self, schema: Schema, value: dict[Any, Any], old: Any, path: Path) -> None:
        former = old if isinstance(old, dict) else {}
        for name in value:
            if not isinstance(name, str):
                self._structure(invalid((*path, str(name)), name, "a key must be a string"))
                return
        if schema.min_properties is not None and len(value) < schema.min_properties:
            detail = f"should have at least {schema.min_properties} properties"
            self.errors.append(invalid(path, value, detail))
        for name, inner in schema.properties.items():
            item = value.get(name)
            if item is not None:
                self.value(inner, item, former.get(name, ABSENT), (*path, name))
            elif name in schema.required and inner.default is ABSENT:
                self._structure(required((*path, name)))
        self._other_fields(schema, value, former, path)

    def _other_fields(
        self, schema: Schema, value: dict[str, Any], former: dict[str, Any], path: Path
    ) -> None:
        """Fields that the schema does not name."""
        others = [name for name in value if name not in schema.properties]
        if schema.additional is not None:
            for name in others:
                old = former.get(name, ABSENT)
                self.value(schema.additional, value[name], old, (*path, key_step(name)))
        elif schema.type == "object" and not schema.preserve_unknown:
            for name in others:
                self._unknown(schema, (*path, name))

    def _unknown(self, schema: Schema, path: Path) -> None:
        error = unknown_field(path, schema.properties)
        if schema.open and not closest(str(path[-1]), schema.properties, _MISSPELT_CUTOFF):
            self.warnings.append(error)
        else:
            self._structure(error)

    def _list(self, schema: Schema, value: list[Any], old: Any, path: Path) -> None:
        if schema.max_items is not None and len(value) > schema.max_items:
            self.errors.append(too_many(path, schema.max_items))
        if schema.min_items is not None and len(value) < schema.min_items:
            detail = f"should have at least {schema.min_items} items"
            self.errors.append(invalid(path, len(value), detail))
        if schema.items is None:
            return
        former = _by_key(schema, old) if isinstance(old, list) else {}
        seen = set()
        for index, item in enumerate(value):
            key = _key(schema, item)
            if key is not None and key in seen:
                shown = _key_fields(schema, item) if schema.list_type == "map" else item
                self.errors.append(duplicate((*path, index), shown))
            seen.add(key)
            self.value(schema.items, item, former.get(key, ABSENT), (*path, index))


def _key_fields(schema: Schema, item: dict[str, Any]) -> dict[str, Any]:
    inner = schema.items.properties if schema.items else {}
    values = {}
    for name in schema.list_map_keys:
        value = item.get(name)
        if value is None and name in inner and inner[name].default is not ABSENT:
            value = inner[name].default
        if value is not None:
            values[name] = value
    return values


def _key(schema: Schema, item: Any) -> str | None:
    """What makes an item of a set or of a list that is a map the same as another."""
    if schema.list_type == "map" and isinstance(item, dict):
        return json.dumps(_key_fields(schema, item), sort_keys=True, default=str)
    if schema.list_type == "set":
        return json.dumps(item, sort_keys=True, default=str)
    return None


def _by_key(schema: Schema, items: list[Any]) -> dict[str | None, Any]:
    if schema.list_type != "map":
        return {}
    return {_key(schema, item): item for item in items}


def _rule_errors(schema: Schema, value: Any, old: Any, path: Path) -> list[FieldError]:
    shown = ABSENT if isinstance(value, dict | list) else value
    return [
        invalid(path, shown, rule.message)
        for rule in schema.rules
        if not (rule.is_transition and old is ABSENT) and not rule.check(value, old)
    ]


def _scalar_errors(schema: Schema, value: Any, path: Path) -> Iterator[FieldError]:
    if schema.enum and value not in schema.enum:
        yield not_supported(path, value, schema.enum)
    if isinstance(value, str):
        yield from _string_errors(schema, value, path)
    elif not isinstance(value, bool):
        yield from _number_errors(schema, value, path)


def _string_errors(schema: Schema, value: str, path: Path) -> Iterator[FieldError]:
    if schema.max_length is not None and len(value) > schema.max_length:
        detail = f"may not be more than {schema.max_length} characters long"
        yield FieldError(path, ErrorType.TOO_LONG, detail)
    if schema.min_length is not None and len(value) < schema.min_length:
        yield invalid(path, value, f"should be at least {schema.min_length} chars long")
    if schema.pattern and not _compiled(schema.pattern).search(value):
        yield invalid(path, value, f"should match '{schema.pattern}'")
    if schema.format == "date-time" and not _DATE_TIME.match(value):
        yield invalid(path, value, "must be a date and time as in RFC 3339: 2026-01-31T12:00:00Z")


def _number_errors(schema: Schema, value: float, path: Path) -> Iterator[FieldError]:
    low, high = _INT_RANGE.get(schema.format, (None, None))
    if low is not None and high is not None and not low <= value <= high:
        yield invalid(path, value, f"must be a number that fits {schema.format}")
    yield from out_of_limits(path, value, schema.minimum, schema.maximum)
