"""Kubernetes resource quantities, exactly: `500m`, `1Gi`, `1e3`.

A quantity is a whole number of billionths and the family of suffixes it was written in, so that
arithmetic is exact and a result reads as its author would have written it. `str()` gives the
canonical form: the largest suffix of the family that leaves no fraction. Kubernetes itself echoes
some other spellings (`+1`, `1.500`) until it computes with them; we never do.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from functools import total_ordering
from typing import Any

from trainway.schema.field import FieldError, Path, invalid
from trainway.schema.kubernetes import kube
from trainway.schema.structural import Schema

_NANOS = 10**9
_LARGEST_BINARY = (2**63 - 1) * _NANOS
"""Kubernetes holds more than this back, for binary suffixes only."""

_MAX_TEXT = 128
_MAX_EXPONENT = 64
"""Beyond these nothing sensible is meant, and a number would fill the memory."""

_PATTERN = re.compile(
    r"([+-]?)([0-9]+\.?[0-9]*|\.[0-9]+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)?", re.ASCII
)


class InvalidQuantityError(ValueError):
    """The value is not a quantity."""


class Family(Enum):
    """How a quantity is written."""

    DECIMAL = "k, M, G"
    BINARY = "Ki, Mi, Gi"
    EXPONENT = "e3, e6, e9"


_DECIMAL_SUFFIXES = {
    -9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E",
}  # fmt: skip
_DECIMAL_EXPONENTS = {suffix: exponent for exponent, suffix in _DECIMAL_SUFFIXES.items()}
_BINARY_SUFFIXES = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


@total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """An amount of a resource. Equal amounts are equal, however they are written."""

    nanos: int = 0
    family: Family = Family.DECIMAL

    @classmethod
    def parse(cls, value: "str | int | float | Decimal | Quantity") -> "Quantity":
        """Read a quantity; InvalidQuantityError if it is none."""
        if isinstance(value, Quantity):
            return value
        text = _number_text(value)
        match = _PATTERN.fullmatch(text) if len(text) <= _MAX_TEXT else None
        if match is None:
            raise InvalidQuantityError(f"not a quantity: {text[:_MAX_TEXT]!r}")
        sign, number, suffix = match.groups(default="")
        nanos, family = _read(number, suffix)
        return cls(-nanos if sign == "-" else nanos, family)

    @property
    def is_zero(self) -> bool:
        """Whether there is nothing."""
        return self.nanos == 0

    def ceil(self) -> int:
        """The next whole number; away from zero, as Kubernetes rounds."""
        whole = -(-abs(self.nanos) // _NANOS)
        return whole if self.nanos >= 0 else -whole

    def __add__(self, other: "Quantity") -> "Quantity":
        return Quantity(self.nanos + other.nanos, self._family_with(other))

    def __sub__(self, other: "Quantity") -> "Quantity":
        return Quantity(self.nanos - other.nanos, self._family_with(other))

    def __mul__(self, count: int) -> "Quantity":
        return Quantity(self.nanos * count, self.family)

    __rmul__ = __mul__

    def __neg__(self) -> "Quantity":
        return Quantity(-self.nanos, self.family)

    def __eq__(self, other: object) -> bool:
        return self.nanos == other.nanos if isinstance(other, Quantity) else NotImplemented

    def __lt__(self, other: "Quantity") -> bool:
        return self.nanos < other.nanos

    def __hash__(self) -> int:
        return hash(self.nanos)

    def __str__(self) -> str:
        if self.family is Family.BINARY and self._reads_well_in_binary():
            return _binary_text(self.nanos // _NANOS)
        return _decimal_text(self.nanos, self.family)

    def _family_with(self, other: "Quantity") -> Family:
        return other.family if self.is_zero else self.family

    def _reads_well_in_binary(self) -> bool:
        return abs(self.nanos) >= 1024 * _NANOS and self.nanos % _NANOS == 0


ZERO = Quantity()


def quantity_errors(schema: Schema, value: Any, path: Path = ()) -> Iterator[FieldError]:
    """Every quantity in a value that its schema lets pass and that is none, such as `1e1.5`.

    The pattern that Kubernetes publishes is wider than what it can read.
    """
    if schema is kube("Quantity"):
        try:
            Quantity.parse(value)
        except InvalidQuantityError:
            yield invalid(path, value, "must be a quantity such as 500m, 1Gi or 1e3")
    elif isinstance(value, dict):
        for name, item in value.items():
            inner = schema.properties.get(name) or schema.additional
            if inner is not None and item is not None:
                step = name if name.isidentifier() else (name,)
                yield from quantity_errors(inner, item, (*path, step))
    elif isinstance(value, list) and schema.items is not None:
        for index, item in enumerate(value):
            yield from quantity_errors(schema.items, item, (*path, index))


def _number_text(value: str | float | Decimal) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        raise InvalidQuantityError(f"not a quantity: {value!r}")
    if isinstance(value, int) and abs(value) >= 10**_MAX_EXPONENT:
        raise InvalidQuantityError("the quantity is too large")
    if isinstance(value, float) and value.is_integer() and abs(value) < 10**21:
        return str(int(value))
    return str(value)


def _read(number: str, suffix: str) -> tuple[int, Family]:
    """The amount in billionths, rounded up, and the family of the suffix."""
    whole, _, fraction = number.partition(".")
    digits = int(whole + fraction)
    if suffix.endswith("i"):
        amount = digits << 10 * _BINARY_SUFFIXES.index(suffix)
        nanos = min(_scaled(amount, 9 - len(fraction)), _LARGEST_BINARY)
        return nanos, Family.BINARY if nanos >= _NANOS or nanos == 0 else Family.DECIMAL
    if suffix in _DECIMAL_EXPONENTS:
        exponent, family = _DECIMAL_EXPONENTS[suffix], Family.DECIMAL
    else:
        exponent, family = int(suffix[1:]), Family.EXPONENT
    if exponent > _MAX_EXPONENT:
        raise InvalidQuantityError(f"the exponent of a quantity may be at most {_MAX_EXPONENT}")
    return _scaled(digits, 9 + exponent - len(fraction)), family


def _scaled(number: int, power: int) -> int:
    """`number * 10**power`, rounded up to a whole number."""
    # No number has more digits than that, so beyond it the result stays the same.
    factor: int = 10 ** min(abs(power), 2 * _MAX_TEXT)
    return number * factor if power >= 0 else -(-number // factor)


def _binary_text(number: int) -> str:
    power = 0
    while number % 1024 == 0 and power < len(_BINARY_SUFFIXES) - 1:
        number //= 1024
        power += 1
    return f"{number}{_BINARY_SUFFIXES[power]}"


def _decimal_text(nanos: int, family: Family) -> str:
    if nanos == 0:
        return "0"
    exponent = -9
    while nanos % 1000 == 0 and (exponent < 18 or family is Family.EXPONENT):
        nanos //= 1000
        exponent += 3
    if family is not Family.EXPONENT:
        return f"{nanos}{_DECIMAL_SUFFIXES[exponent]}"
    return f"{nanos}e{exponent}" if exponent else str(nanos)
