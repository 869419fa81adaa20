"""What all benchmarks do: choose measurements by their names, print each figure, and judge.

The exit status is 1 if a limit was missed, and 2 if nothing could be measured.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import TypeVar

Measure = TypeVar("Measure")
Unavailable = type[Exception] | tuple[type[Exception], ...]


@dataclass(frozen=True)
class Row:
    """One measurement."""

    what: str
    value: float
    unit: str
    limit: float | None = None
    beside: str = ""
    """What else is worth knowing."""

    @property
    def is_kept(self) -> bool:
        """Whether the value is within its limit."""
        return self.limit is None or self.value <= self.limit

    def __str__(self) -> str:
        limit = "" if self.limit is None else f"<= {self.limit:g} {self.unit}"
        verdict = "" if self.limit is None else ("ok" if self.is_kept else "MISSED")
        return (
            f"{self.what:52} {self.value:9.3f} {self.unit:3} {limit:13} {verdict:7} {self.beside}"
        )


Measurement = Callable[[], Iterator[Row]]
"""The usual kind, which needs nothing."""
Rows = Generator[Row, None, None]
"""As they are taken; closed early, it lets go of what it measures with."""


def run(
    names: Iterable[str],
    measurements: Mapping[str, Measure],
    rows: Callable[[list[Measure]], Rows],
    unavailable: Unavailable = (),
) -> int:
    """Have the named measurements taken, or all of them, and give the exit status.

    `rows` takes them, each where it belongs; `unavailable` is raised where that cannot be had.
    """
    chosen = list(names)
    unknown = set(chosen) - set(measurements)
    if unknown:
        print(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(measurements)}")
        return 2
    is_kept = True
    try:
        with closing(taken := rows([measurements[name] for name in chosen or measurements])):
            for row in taken:
                print(row, flush=True)
                is_kept = is_kept and row.is_kept
    except unavailable as error:
        print(f"cannot be measured: {error}")
        return 2
    return 0 if is_kept else 1
