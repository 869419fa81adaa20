"""Which files are meant: patterns of what to include and what to ignore, as the hub has them.

A star matches slashes too, so `*.json` means those of all folders; a pattern that ends with a slash
means all that is below that folder.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Patterns:
    """No include means everything; what is ignored is ignored even if it is included."""

    include: Sequence[str] = ()
    ignore: Sequence[str] = ()

    def match(self, name: str) -> bool:
        """Whether a file of that name, relative to what is copied, is meant."""
        is_included = not self.include or _any(self.include, name)
        return is_included and not _any(self.ignore, name)


def _any(patterns: Sequence[str], name: str) -> bool:
    return any(
        fnmatchcase(name, f"{pattern}*" if pattern.endswith("/") else pattern)
        for pattern in patterns
    )
