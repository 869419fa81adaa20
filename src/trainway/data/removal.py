"""Removing what a URI means from its bucket, and nothing beyond it."""

from dataclasses import dataclass
from typing import Final

from trainway.data.opening import locate, open_target
from trainway.data.patterns import Patterns
from trainway.data.selection import select
from trainway.data.store import Target
from trainway.errors import UsageError

_AT_ONCE: Final = 1000


@dataclass(frozen=True)
class Removable:
    """Files that can be removed now."""

    target: Target
    keys: tuple[str, ...]
    size: int


def removable(uri: str, patterns: Patterns) -> Removable:
    """The files that a URI means; a whole bucket is refused."""
    location = locate(uri)
    target = open_target(location)
    if not location.key:
        raise UsageError(
            f"{location} names a whole bucket, and a bucket is never emptied at once",
            hint="name a file or a folder in it",
        )
    found = select(target, location, patterns)
    return Removable(target, tuple(each.entry.key for each in found.files), found.size)


def remove(found: Removable) -> None:
    """Remove these files, and no others."""
    for start in range(0, len(found.keys), _AT_ONCE):
        found.target.delete(found.keys[start : start + _AT_ONCE])
