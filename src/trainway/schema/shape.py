"""The vocabulary in which the structure of tasks and of our settings is written down.

A shape says what one value may be and gives the errors of one that is not so. It stands beside
structural schemas (`structural`, `validation`), which are those of custom resources: they are
published as CRDs and can be no more than Kubernetes lets them be, while a shape knows values of
several types (`COUNT`, `"COUNT+"` or an object), words in any case, and fields that there were
once. To express one by the other would take a second language inside either. What both say of a
value they say with the same functions (`field`). No error shows a value that may be a secret.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from trainway.schema.field import (
    ErrorType,
    FieldError,
    Path,
    forbidden,
    invalid,
    key_step,
    not_supported,
    out_of_limits,
    required,
    too_many,
)
from trainway.schema.validation import unknown_field


class Shape(Protocol):
    """What one value may be."""

    @property
    def says(self) -> str:
        """What it is, in words: `an integer`."""
        ...

    def takes(self, value: Any) -> bool:
        """Whether the value has the right type, whatever else is wrong with it."""
        ...

    def errors(self, value: Any, path: Path) -> Iterator[FieldError]:
        """What is wrong with a value of the right type."""
        ...


def check(shape: Shape, value: Any, path: Path) -> Iterator[FieldError]:
    """What is wrong with a value."""
    if shape.takes(value):
        yield from shape.errors(value, path)
    else:
        yield invalid(path, value, f"must be {shape.says}")


@dataclass(frozen=True)
class Anything:
    """A value that is not ours to judge."""

    says: str = "anything"

    def takes(self, _value: Any) -> bool:
        """Always."""
        return True

    def errors(self, _value: Any, _path: Path) -> Iterator[FieldError]:
        """None."""
        return iter(())


@dataclass(frozen=True)
class Text:
    """A string, maybe of a form."""

    pattern: str = ""
    form: str = ""
    """What the pattern means, in words."""
    says: str = "text"

    def takes(self, value: Any) -> bool:
        """A string, even an empty one."""
        return isinstance(value, str)

    def errors(self, value: str, path: Path) -> Iterator[FieldError]:
        """It does not match."""
        if self.pattern and not re.fullmatch(self.pattern, value, re.ASCII):
            yield invalid(path, value, self.form or f"should match '{self.pattern}'")


@dataclass(frozen=True)
class Word:
    """One of some words."""

    choices: tuple[str, ...]
    any_case: bool = True
    says: str = "text"

    def takes(self, value: Any) -> bool:
        """A string, which may be the wrong one."""
        return isinstance(value, str)

    def errors(self, value: str, path: Path) -> Iterator[FieldError]:
        """It is none of them."""
        known = {choice.lower() for choice in self.choices} if self.any_case else self.choices
        if (value.lower() if self.any_case else value) not in known:
            yield not_supported(path, value, self.choices)


@dataclass(frozen=True)
class Flag:
    """True or false."""

    says: str = "true or false"

    def takes(self, value: Any) -> bool:
        """A boolean and nothing like it."""
        return isinstance(value, bool)

    def errors(self, _value: bool, _path: Path) -> Iterator[FieldError]:
        """Both are right."""
        return iter(())


@dataclass(frozen=True)
class Number:
    """A number, whole or not, maybe within limits."""

    whole: bool = False
    least: float | None = None
    most: float | None = None
    above: float | None = None

    @property
    def says(self) -> str:
        """Its kind."""
        return "an integer" if self.whole else "a number"

    def takes(self, value: Any) -> bool:
        """An int, or a float; 2.0 counts as whole."""
        if isinstance(value, float):
            return not math.isnan(value) and (not self.whole or value.is_integer())
        return isinstance(value, int) and not isinstance(value, bool)

    def errors(self, value: float, path: Path) -> Iterator[FieldError]:
        """It is out of its limits."""
        if self.above is not None and value <= self.above:
            yield invalid(path, value, f"must be greater than {self.above}")
        yield from out_of_limits(path, value, self.least, self.most)


@dataclass(frozen=True)
class Either:
    """A value of one of several types."""

    shapes: tuple[Shape, ...]

    @property
    def says(self) -> str:
        """All of them."""
        return " or ".join(dict.fromkeys(shape.says for shape in self.shapes))

    def takes(self, value: Any) -> bool:
        """One of them does."""
        return any(shape.takes(value) for shape in self.shapes)

    def errors(self, value: Any, path: Path) -> Iterator[FieldError]:
        """Those of the fitting shape."""
        fitting = next(shape for shape in self.shapes if shape.takes(value))
        yield from fitting.errors(value, path)


@dataclass(frozen=True)
class Items:
    """A list."""

    item: Shape
    least: int = 0
    most: int | None = None
    says: str = "a list"

    def takes(self, value: Any) -> bool:
        """A list of anything."""
        return isinstance(value, list)

    def errors(self, value: Sequence[Any], path: Path) -> Iterator[FieldError]:
        """Too few, too many, or wrong ones."""
        if len(value) < self.least:
            yield invalid(path, list(value), f"should have at least {self.least} items")
        if self.most is not None and len(value) > self.most:
            yield too_many(path, self.most)
        for index, item in enumerate(value):
            yield from check(self.item, item, (*path, index))


@dataclass(frozen=True)
class Table:
    """A map with free keys."""

    value: Shape
    nullable: bool = False
    least: int = 0
    most: int | None = None
    key: str = ""
    says: str = "a map"

    def takes(self, value: Any) -> bool:
        """An object."""
        return isinstance(value, dict)

    def errors(self, value: Mapping[str, Any], path: Path) -> Iterator[FieldError]:
        """Of the keys, then of the values."""
        if len(value) < self.least or (self.most is not None and len(value) > self.most):
            detail = "must have exactly one entry" if self.most == 1 else "must not be empty"
            yield invalid(path, sorted(value), detail)
        for name, item in value.items():
            if self.key and not re.fullmatch(self.key, name, re.ASCII):
                detail = f"each name must match '{self.key}'"
                yield FieldError((*path, key_step(name)), ErrorType.FORBIDDEN, detail)
            if not (item is None and self.nullable):
                yield from check(self.value, item, (*path, key_step(name)))


@dataclass(frozen=True)
class Record:
    """An object of known fields; a field that is null counts as absent."""

    fields: Mapping[str, Shape]
    needs: tuple[str, ...] = ()
    removed: Mapping[str, str] = field(default_factory=dict)
    """Fields that there were, and what to say of them."""
    keeps: tuple[str, ...] = ()
    """Internal fields of SkyPilot, which are neither read nor refused."""
    says: str = "an object"

    def takes(self, value: Any) -> bool:
        """An object."""
        return isinstance(value, dict)

    def errors(self, value: Mapping[str, Any], path: Path) -> Iterator[FieldError]:
        """Unknown, missing and wrong fields, in the order they are written."""
        for name, item in value.items():
            inner = self.fields.get(name)
            if inner is not None:
                if item is not None:
                    yield from check(inner, item, (*path, name))
            elif name in self.removed:
                yield FieldError((*path, key_step(name)), ErrorType.UNKNOWN, self.removed[name])
            elif name not in self.keeps:
                yield unknown_field((*path, name), self.fields)
        for name in self.needs:
            if value.get(name) is None:
                yield required((*path, name))


def exclusive(value: Mapping[str, Any], path: Path, one: str, other: str) -> Iterator[FieldError]:
    """Two fields that cannot stand together."""
    if value.get(one) is not None and value.get(other) is not None:
        yield forbidden((*path, other), f"{one} and {other} are mutually exclusive")


COUNT: Final = Number(whole=True, least=0)
POSITIVE: Final = Number(whole=True, above=0)
TEXT: Final = Text()
FLAG: Final = Flag()
