"""The built-in training runtimes, known without a file.

One YAML file each, under the names that Kubeflow Trainer gives them, so that a TrainJob written for
a cluster finds its runtime here too. Only the files that are asked for are read.
"""

from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from trainway.api.manifest import parse_manifests

_FOLDER = Path(__file__).parent  # importlib.resources costs more than all that is read here
_SUFFIX = ".yaml"


@cache
def _names() -> tuple[str, ...]:
    return tuple(sorted(file.name.removesuffix(_SUFFIX) for file in _FOLDER.glob("*" + _SUFFIX)))


@cache
def _read(name: str) -> dict[str, Any]:
    (runtime,) = parse_manifests((_FOLDER / (name + _SUFFIX)).read_text("utf-8"))
    return runtime


def names() -> list[str]:
    """The names of all built-in runtimes, sorted."""
    return list(_names())


def builtin_runtime(name: str) -> dict[str, Any] | None:
    """The runtime of that name, as a copy of the caller's own; None if there is none."""
    return deepcopy(_read(name)) if name in _names() else None


def builtin_runtimes() -> list[dict[str, Any]]:
    """All built-in runtimes, in the order of their names."""
    return [deepcopy(_read(name)) for name in _names()]
