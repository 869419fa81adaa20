"""The hosts that the SSH client's configuration names.

Only their names are of interest here, to tell a host from a typing error; what is written about
them ssh itself knows best.
"""

import glob
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_DEEPEST: Final = 16
"""How deep files may include each other, as in ssh."""
_PATTERN: Final = "*?!"


def named_hosts(path: Path, home: Path) -> list[str]:
    """All names behind `Host` that are no patterns, with those of included files."""
    return list(dict.fromkeys(_hosts(path, home, 0)))


def words_of(line: str) -> list[str]:
    """The keyword of a line and its arguments; none of a comment."""
    line = line.strip()
    if not line or line.startswith("#"):
        return []
    head, *rest = line.replace("=", " ", 1).split(None, 1)
    return [head.lower(), *(word.strip('"') for word in (rest[0].split() if rest else ()))]


def _hosts(path: Path, home: Path, depth: int) -> Iterator[str]:
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return
    for line in lines:
        keyword, *arguments = words_of(line) or [""]
        if keyword == "host":
            yield from (name for name in arguments if not set(name) & set(_PATTERN))
        elif keyword == "include" and depth < _DEEPEST:
            for pattern in arguments:
                for file in sorted(glob.glob(str(_place(pattern, home)))):  # noqa: PTH207 - absolute
                    yield from _hosts(Path(file), home, depth + 1)


def _place(pattern: str, home: Path) -> Path:
    """Where an included file is: relative names are in `~/.ssh`."""
    if pattern.startswith("~/"):
        return home / pattern[2:]
    return home / ".ssh" / pattern
