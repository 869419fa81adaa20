"""What a sweep tries: every combination, lists that go together, and samples; and all its trials.

The trials are the plain product of the parts, in the order in which they were written, where the
last one changes fastest. The same sweep with the same seed has the same trials everywhere.
"""

import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from trainway.errors import UsageError
from trainway.sweep.parameter import Assignment, check_count, check_names, check_value

Values = Sequence[str]

_DIGITS: Final = 6
"""How many significant digits a number has that is drawn."""


@dataclass(frozen=True)
class Interval:
    """Numbers between two, evenly, evenly by their logarithms, or whole ones."""

    kind: str
    low: float
    high: float

    def draw(self, source: random.Random) -> str:
        """One of them, as text."""
        if self.kind == "int":
            return str(source.randint(int(self.low), int(self.high)))
        if self.kind == "log":
            number = math.exp(source.uniform(math.log(self.low), math.log(self.high)))
        else:
            number = source.uniform(self.low, self.high)
        return f"{min(max(number, self.low), self.high):.{_DIGITS}g}"


KINDS: Final = ("uniform", "log", "int")


def interval(name: str, text: str) -> Interval:
    """What `log:1e-5:1e-1` means."""
    kind, *limits = text.split(":")
    try:
        low, high = (float(limit) for limit in limits)
    except ValueError:
        low, high = math.nan, math.nan
    is_right = kind in KINDS and low < high and math.isfinite(low) and math.isfinite(high)
    if kind == "log":
        is_right = is_right and low > 0
    if kind == "int":
        is_right = is_right and low.is_integer() and high.is_integer()
    if not is_right:
        raise UsageError(
            f"{text!r} is not a range of values for {name}",
            hint="write a list, uniform:0:0.5, log:1e-5:1e-1 or int:2:8, the smaller number first",
        )
    return Interval(kind, low, high)


@dataclass(frozen=True)
class Samples:
    """So many trials whose values are drawn; each parameter has numbers of its own."""

    count: int
    seed: int = 0
    parameters: Mapping[str, Values | Interval] = field(default_factory=dict)

    def rows(self) -> list[dict[str, str]]:
        """The values of each trial."""
        drawn = {name: list(self._drawn(name, values)) for name, values in self.parameters.items()}
        return [{name: drawn[name][row] for name in drawn} for row in range(self.count)]

    def _drawn(self, name: str, values: Values | Interval) -> Iterator[str]:
        # A text as the seed gives the same numbers with every version of Python.
        source = random.Random(f"{self.seed}/{name}")  # noqa: S311 - to be repeated, not secret
        for _ in range(self.count):
            yield values.draw(source) if isinstance(values, Interval) else source.choice(values)


@dataclass(frozen=True)
class Sweep:
    """The parts of a sweep; one that is empty changes nothing."""

    grid: Mapping[str, Values] = field(default_factory=dict)
    """Every combination of these."""
    together: Mapping[str, Values] = field(default_factory=dict)
    """The first of each, then the second of each, and so on."""
    samples: Samples | None = None

    @property
    def names(self) -> list[str]:
        """All parameters."""
        drawn = self.samples.parameters if self.samples else {}
        return [*self.grid, *self.together, *drawn]

    def with_grid(self, grid: Mapping[str, Values]) -> "Sweep":
        """The sweep with more to combine."""
        twice = [name for name in grid if name in self.names]
        if twice:
            raise UsageError(f"the parameter {twice[0]} is in the sweep already")
        return Sweep({**self.grid, **grid}, self.together, self.samples)

    def trials(self) -> list[dict[str, str]]:
        """The parameters of each trial. A UsageError says what is wrong with the sweep."""
        self._check()
        parts: list[list[dict[str, str]]] = [
            [{name: value} for value in values] for name, values in self.grid.items()
        ]
        if self.together:
            rows = zip(*self.together.values(), strict=True)
            parts.append([dict(zip(self.together, row, strict=True)) for row in rows])
        if self.samples is not None:
            parts.append(self.samples.rows())
        return [_joined(combination) for combination in itertools.product(*parts)]

    def _check(self) -> None:
        names = self.names
        if not names:
            raise UsageError("the sweep has no parameters")
        twice = [name for number, name in enumerate(names) if name in names[:number]]
        if twice:
            raise UsageError(f"the parameter {twice[0]} is in the sweep twice")
        check_names(names)
        drawn = self.samples.parameters if self.samples else {}
        lists = {**self.grid, **self.together}
        lists |= {name: item for name, item in drawn.items() if not isinstance(item, Interval)}
        for name, values in lists.items():
            if not values:
                raise UsageError(f"the parameter {name} has no values")
            for value in values:
                check_value(name, value)
        for name, values in self.grid.items():
            if len(set(values)) < len(values):
                again = next(value for value in values if values.count(value) > 1)
                raise UsageError(f"the parameter {name} has the value {again} twice")
        lengths = {name: len(values) for name, values in self.together.items()}
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{name} has {length}" for name, length in lengths.items())
            raise UsageError(f"lists under zip must have the same length: {told}")
        count = math.prod(len(values) for values in self.grid.values())
        count *= next(iter(lengths.values()), 1)
        count *= self.samples.count if self.samples is not None else 1
        check_count(count)


def _joined(parts: Sequence[Assignment]) -> dict[str, str]:
    return {name: value for part in parts for name, value in part.items()}
