"""Which directory appears where in a container, and what to do where nothing can be mounted.

Then paths are mapped: a command, argument or value that begins with a mount path, on its own or
after the `=` of an option, is rewritten to the directory behind it. A path inside a longer text,
such as a shell script, stays as it is, which is why this is told in an event.
"""

from __future__ import annotations

import posixpath

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class Binding:
    """One mount of a container."""

    def __init__(self, source: str, target: str, *, read_only: bool = False) -> None:
        self.source = source
        """The directory or file of this machine that is behind it."""
        self.target = posixpath.normpath(target)
        self.read_only = read_only

    def __repr__(self) -> str:
        return f"{self.target} -> {self.source}{' (read only)' if self.read_only else ''}"


def needed(bindings: Iterable[Binding]) -> list[Binding]:
    """The bindings that change anything, outer ones first."""
    found = [item for item in bindings if item.source != item.target or item.read_only]
    return sorted(found, key=lambda item: item.target)


class PathMap:
    """Rewrites mount paths to the directories behind them."""

    def __init__(self, bindings: Sequence[Binding]) -> None:
        moved = [item for item in bindings if item.source != item.target]
        self._bindings = sorted(moved, key=lambda item: -len(item.target))

    def path(self, text: str) -> str:
        """A path, rewritten if it is a mount path or below one."""
        for binding in self._bindings:
            if text == binding.target or text.startswith(binding.target.rstrip("/") + "/"):
                return binding.source + text[len(binding.target) :]
        return text

    def argument(self, text: str) -> str:
        """An argument, which may be an option with a path after `=`."""
        option, equals, value = text.partition("=")
        if equals and option.startswith("-"):
            return f"{option}={self.path(value)}"
        return self.path(text)

    def command(self, argv: Iterable[str]) -> list[str]:
        """A whole command line."""
        return [self.argument(text) for text in argv]

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """All values of an environment."""
        return {name: self.path(value) for name, value in env.items()}

    def __str__(self) -> str:
        return ", ".join(repr(binding) for binding in reversed(self._bindings))
