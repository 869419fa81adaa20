"""Finds the row of a family by the name of a place.

Rows of other packages are entry points of the group `trainway.families`. They are looked for only
where a name is not one of ours, since looking takes longer than a command may take to start; and
once, until a package comes or goes, since a server asks several times for each job.
"""

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from trainway.errors import TrainwayError
from trainway.families.builtin import BUILTIN, HERE
from trainway.families.clouds import CLOUDS
from trainway.families.family import Family

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ROWS: Final = "trainway.families"
"""The entry-point group of rows: each entry names a `Family`."""
CLASSES: Final = "trainway.backends"
"""The entry-point group of classes of backends that have no row."""


class BackendError(TrainwayError):
    """A backend cannot be used."""

    code = "backend"
    http_status = 503


def family_of(place: str | None) -> Family:
    """The row of the family that a place belongs to; None stands for this machine."""
    name = name_of(place)
    return BUILTIN.get(name) or CLOUDS.get(name) or _installed(name) or Family(name, backend="")


def name_of(place: str | None) -> str:
    """The name of the family."""
    return next((part for part in (place or HERE).split("/") if part), "")


def spelled(place: str) -> str:
    """A place as its backend is called: `ssh/lab` of `ssh/lab/`. What names none stays as it is."""
    return "/".join(part for part in place.split("/") if part) or place


def installed_names() -> list[str]:
    """The families of other packages, whether or not they can be loaded."""
    return sorted(
        {entry.name for group in (ROWS, CLASSES) for entry in _entries(group)} - {*BUILTIN}
    )


def installed_rows() -> list[Family]:
    """The rows of other packages that can be loaded."""
    found = []
    for name in installed_names():
        with suppress(BackendError):  # whoever asks for that family is told
            found.append(_installed(name))
    return [row for row in found if row is not None]


def with_section(names: Iterable[str]) -> list[Family]:
    """The families that read sections of config.yaml: ours, and others if there are more names."""
    ours = [row for row in BUILTIN.values() if row.sections]
    if set(names) <= {section for row in ours for section in row.sections}:
        return ours
    return [*ours, *(row for row in installed_rows() if row.sections)]


def _installed(name: str) -> Family | None:
    """The row that another package brings; of one that has only a class, a row that says little."""
    for entry in _entries(ROWS):
        if entry.name == name:
            return _loaded(entry)
    for entry in _entries(CLASSES):
        if entry.name == name:
            return Family(name, backend=entry.value)
    return None


def _loaded(entry: "EntryPoint") -> Family:
    try:
        row = entry.load()
    except Exception as error:  # whatever the other package raises
        raise _unusable(entry, str(error)) from error
    if not isinstance(row, Family) or row.name != entry.name:
        raise _unusable(entry, f"{entry.value} is not a Family of that name")
    return row


def _unusable(entry: "EntryPoint", problem: str) -> BackendError:
    return BackendError(
        f"the backend {entry.name!r} cannot be loaded: {problem}",
        hint="reinstall the package that brings it",
    )


def _entries(group: str) -> "list[EntryPoint]":
    from importlib.metadata import entry_points  # noqa: PLC0415 - slow, and seldom needed

    return _found(entry_points, group, _packages())


@lru_cache(maxsize=16)
def _found(
    look: "Callable[..., Iterable[EntryPoint]]", group: str, packages: tuple[object, ...]
) -> "list[EntryPoint]":
    del packages  # others, others found
    return list(look(group=group))


def _packages() -> tuple[object, ...]:
    """What changes when a package comes or goes: the folders of packages, and their times."""
    return tuple((folder, _changed(folder)) for folder in sys.path)


def _changed(folder: str) -> int:
    try:
        return os.stat(folder or os.curdir).st_mtime_ns  # noqa: PTH116 - Path takes much longer
    except OSError:
        return 0
