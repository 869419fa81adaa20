"""The values that a hyperparameter may take, and how one of them is drawn and written."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_DIGITS: Final = 6
"""Significant digits of a number that is drawn."""


@dataclass(frozen=True)
class FloatRange:
    """Numbers between two, both included."""

    low: float
    high: float
    is_log: bool = False
    """Whether their logarithms are equally likely, and not they themselves."""

    def draw(self, source: random.Random) -> str:
        """One of them, as text."""
        return self.at(source.random())

    def at(self, part: float) -> str:
        """The one that so large a part of the range is below, from 0 to 1."""
        if self.is_log:
            low, high = math.log(self.low), math.log(self.high)
            return self.text(math.exp(low + (high - low) * part))
        return self.text(self.low + (self.high - self.low) * part)

    def text(self, number: float) -> str:
        """A number of the range as it is written: short, but never outside the range."""
        inside = min(max(number, self.low), self.high)
        short = f"{inside:.{_DIGITS}g}"
        return short if self.low <= float(short) <= self.high else repr(inside)


@dataclass(frozen=True)
class IntRange:
    """Whole numbers between two, both included."""

    low: int
    high: int
    is_log: bool = False

    def draw(self, source: random.Random) -> str:
        """One of them, as text."""
        if not self.is_log:
            return str(source.randint(self.low, self.high))
        return self.at(source.random())

    def at(self, part: float) -> str:
        """The one that so large a part of the range is below, from 0 to 1."""
        if not self.is_log:
            return self.text(self.low + math.floor((self.high - self.low + 1) * part))
        low, high = math.log(self.low), math.log(self.high + 1)
        return self.text(math.floor(math.exp(low + (high - low) * part)))

    def text(self, number: float) -> str:
        """A number of the range as it is written."""
        return str(min(max(int(number), self.low), self.high))


@dataclass(frozen=True)
class Choices:
    """A list of texts."""

    values: Sequence[str]

    def draw(self, source: random.Random) -> str:
        """One of them."""
        return source.choice(self.values)

    def at(self, part: float) -> str:
        """The one that so large a part of the list is before, from 0 to 1."""
        return self.values[min(int(part * len(self.values)), len(self.values) - 1)]


Space = FloatRange | IntRange | Choices
