"""Curves drawn with plain characters, which every terminal and every log can show. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

Curve = Sequence[tuple[float, float]]
"""The points of a curve as (x, y)."""

MARKS: Final = "*+ox#@%&"
"""The marks of the first curve, the second, and so on; where two meet, the later one is seen."""
_EMPTY: Final = " "
_LEAST_WIDTH: Final = 10


def chart(
    curves: Mapping[str, Curve], width: int = 72, height: int = 12, x_name: str = "step"
) -> str:
    """The curves over each other, with the ends of both axes; a legend where there are several."""
    points = [point for curve in curves.values() for point in curve]
    if not points:
        return "(no points)\n"
    left, right = _span([x for x, _ in points])
    low, high = _span([y for _, y in points])
    labels = {0: number(high), height - 1: number(low)}
    margin = max(map(len, labels.values()))
    columns = max(_LEAST_WIDTH, width - margin - 2)
    grid = [[_EMPTY] * columns for _ in range(height)]
    for place, curve in enumerate(curves.values()):
        for x, y in curve:
            column = _cell(x, left, right, columns)
            grid[height - 1 - _cell(y, low, high, height)][column] = MARKS[place % len(MARKS)]
    lines = [
        f"{labels.get(row, '').rjust(margin)} |{''.join(cells)}".rstrip()
        for row, cells in enumerate(grid)
    ]
    first, last = number(left), number(right)
    named = f"{first} {x_name}"
    gap = max(1, columns - len(named) - len(last))
    lines += [f"{'':{margin}} +{'-' * columns}", f"{'':{margin}}  {named}{'':{gap}}{last}"]
    if len(curves) > 1:
        legend = [f"{MARKS[at % len(MARKS)]} {name}" for at, name in enumerate(curves)]
        lines.append(f"{'':{margin}}  {'   '.join(legend)}")
    return "\n".join(lines) + "\n"


def number(value: float) -> str:
    """A number in few characters."""
    if float(value).is_integer() and abs(value) < 1e9:
        return str(int(value))
    return f"{value:.4g}"


def _span(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)


def _cell(value: float, least: float, largest: float, cells: int) -> int:
    """Which of so many cells a value belongs to."""
    half = largest / 2 - least / 2  # which is finite, where the whole need not be
    if half <= 0:
        return 0
    return min(cells - 1, int((value / 2 - least / 2) / half * (cells - 1) + 0.5))
