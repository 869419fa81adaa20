"""`--grid lr=0.1,0.01`: a parameter and its values, as somebody writes them on a command line."""

from collections.abc import Callable, Sequence
from typing import Final

from trainway.errors import UsageError

Read = Callable[[str], str]
"""A function that gives the text of a file."""

FILE: Final = "@"
"""The sign before the name of a file that has the values."""

_HINTS: Final = {
    "--grid": "write --grid lr=0.1,0.01, or --grid lr=@FILE with one value on each line",
    "--param": "write --param bs=8,16,32, or a range: --param lr=log:1e-5:1e-1",
}


def parse_grid(
    options: Sequence[str], read: Read, option_name: str = "--grid"
) -> dict[str, list[str]]:
    """The values of each parameter."""
    grid: dict[str, list[str]] = {}
    for option in options:
        name, sign, text = option.partition("=")
        if not sign or not name or not text:
            raise UsageError(
                f"{option_name} {option}: it must be a name and its values",
                hint=_HINTS[option_name],
            )
        if name in grid:
            raise UsageError(f"the parameter {name} has {option_name} twice")
        values = lines(read(text[1:])) if text.startswith(FILE) else text.split(",")
        grid[name] = values
    return grid


def lines(text: str) -> list[str]:
    """The values in a file: one on each line; empty lines do not count."""
    found = [line.strip() for line in text.removeprefix("\ufeff").splitlines()]
    return [line for line in found if line]
