"""Where an error is and what it says: field paths and field errors, in Kubernetes' own form.

A path is a tuple of steps, so that walking an object costs nothing until there is something to
report. `FieldError` prints as `spec.trainer.numNodes: Invalid value: -1: must be ...`.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

Step = str | int | tuple[str]
"""One step of a path: a field name, an index, or `(key,)` for the key of a map."""

Path = tuple[Step, ...]


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"

    def __bool__(self) -> bool:
        return False


ABSENT: Final[Any] = _Absent()
"""Stands for a value that is not there, where None would be a value."""

_LONGEST_VALUE = 120
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class ErrorType(StrEnum):
    """What kind of wrong a field is; the words are those of the Kubernetes API."""

    REQUIRED = "Required value"
    INVALID = "Invalid value"
    NOT_SUPPORTED = "Unsupported value"
    DUPLICATE = "Duplicate value"
    FORBIDDEN = "Forbidden"
    TOO_LONG = "Too long"
    TOO_MANY = "Too many"
    UNKNOWN = "Unknown field"
    INTERNAL = "Internal error"


_WITHOUT_VALUE = frozenset(
    {
        ErrorType.REQUIRED,
        ErrorType.FORBIDDEN,
        ErrorType.TOO_LONG,
        ErrorType.TOO_MANY,
        ErrorType.UNKNOWN,
        ErrorType.INTERNAL,
    }
)


def key_step(name: str) -> Step:
    """The key of a map as a step of a path; one that looks like a field is shown like a field."""
    return name if _IDENTIFIER.fullmatch(name) else (name,)


def path_text(path: Path) -> str:
    """`("spec", "env", 0, ("a/b",))` as `spec.env[0][a/b]`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif isinstance(step, tuple):
            text += f"[{step[0]}]"
        else:
            text += f".{step}" if text else step
    return text


def _value_text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 3] + "..."


@dataclass(frozen=True, slots=True)
class FieldError:
    """One thing that is wrong with one field."""

    path: Path
    type: ErrorType
    detail: str = ""
    value: Any = ABSENT

    @property
    def field(self) -> str:
        """The path as users write it."""
        return path_text(self.path)

    def __str__(self) -> str:
        parts = [self.field, str(self.type)]
        if self.type not in _WITHOUT_VALUE and self.value is not ABSENT:
            parts.append(_value_text(self.value))
        if self.detail:
            parts.append(self.detail)
        return ": ".join(part for part in parts if part)


def required(path: Path, detail: str = "") -> FieldError:
    """The field is missing."""
    return FieldError(path, ErrorType.REQUIRED, detail)


def invalid(path: Path, value: Any, detail: str) -> FieldError:
    """The value breaks a rule."""
    return FieldError(path, ErrorType.INVALID, detail, value)


def not_supported(path: Path, value: Any, supported: tuple[Any, ...]) -> FieldError:
    """The value is none of those that are allowed."""
    choices = ", ".join(json.dumps(choice) for choice in supported)
    return FieldError(path, ErrorType.NOT_SUPPORTED, f"supported values: {choices}", value)


def out_of_limits(
    path: Path, value: float, least: float | None, most: float | None
) -> Iterator[FieldError]:
    """The number is too small, or too large."""
    if least is not None and value < least:
        yield invalid(path, value, f"must be greater than or equal to {least}")
    if most is not None and value > most:
        yield invalid(path, value, f"must be less than or equal to {most}")


def too_many(path: Path, most: int) -> FieldError:
    """The list is too long."""
    return FieldError(path, ErrorType.TOO_MANY, f"must have at most {most} items")


def duplicate(path: Path, value: Any) -> FieldError:
    """The value stands twice where it may stand once."""
    return FieldError(path, ErrorType.DUPLICATE, "", value)


def forbidden(path: Path, detail: str) -> FieldError:
    """A rule forbids this field or this change."""
    return FieldError(path, ErrorType.FORBIDDEN, detail)
