"""Sweeps as somebody gives them: options, files, and the values of a program."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trainway.sdk.targets import read_manifest
from trainway.sweep.grid_option import parse_grid
from trainway.sweep.space import Sweep
from trainway.sweep.sweep_file import parse_sweep


def grid_of(options: Sequence[str]) -> dict[str, list[str]]:
    """What `--grid` says; files are those of the current directory."""
    return parse_grid(options, lambda name: read_manifest(Path(name)))


def values_of(grid: Mapping[str, Sequence[Any]]) -> dict[str, list[str]]:
    """The grid of a program, as text."""
    return {name: [_text(value) for value in values] for name, values in grid.items()}


def trials(
    grid: Mapping[str, Sequence[str]], sweep: str | Path | None = None
) -> list[dict[str, str]]:
    """The parameters of each trial of a grid, a sweep file, or both together."""
    if sweep is None:
        return Sweep(grid).trials()
    path = Path(sweep)

    def read(name: str) -> str:
        return read_manifest(path.parent / name)

    return parse_sweep(read_manifest(path), str(path), read).with_grid(grid).trials()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)
