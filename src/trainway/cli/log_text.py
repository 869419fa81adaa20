"""Lines of logs for people: who wrote them, and nothing that steers the terminal."""

import re
from collections.abc import Iterable
from typing import Final

from trainway.cli.colours import NODES, painted
from trainway.sdk.log_line import LogLine

_NARROWEST: Final = 6
_ESCAPE: Final = re.compile(
    r"""
    \x1b (?! \[[0-9;]*m )                         # any sequence but that of a colour:
    (?: \[[0-?]*[ -/]*[@-~]                       # moves the cursor, erases, ...
      | \][^\x07\x1b]* (?: \x07 | \x1b\\ )       # sets a title, links, ...
      | .? )
    """,
    re.VERBOSE,
)
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f]")


class LogText:
    """Formats lines; remembers which colour a node has, and how wide names are."""

    def __init__(self, *, colourful: bool, prefix: bool = True) -> None:
        self._colourful = colourful
        self._prefix = prefix
        self._colours: dict[str, str] = {}
        self._containers: dict[str, str] = {}
        self._width = _NARROWEST

    def lines(self, lines: Iterable[LogLine]) -> str:
        """The lines as one text."""
        return "".join([f"{self._prefix_of(line)}{self._text_of(line)}\n" for line in lines])

    def _prefix_of(self, line: LogLine) -> str:
        if not self._prefix:
            return ""
        node = line.node
        if self._containers.setdefault(node, line.container) != line.container:
            node = f"{node}/{line.container}"
        self._width = max(self._width, len(node))
        text = f"{node.ljust(self._width)} | "
        if not self._colourful:
            return text
        colour = self._colours.setdefault(node, NODES[len(self._colours) % len(NODES)])
        return painted(text, colour)

    def _text_of(self, line: LogLine) -> str:
        return shown(line.text) if self._colourful else line.text


def shown(text: str) -> str:
    """The text as a terminal may have it: of what was overwritten the last, colours, no control."""
    if text.isprintable():
        return text
    had_colours = "\x1b[" in text
    text = text.rstrip("\r").rpartition("\r")[2]
    text = _CONTROL.sub("", _ESCAPE.sub("", text))
    return f"{text}\x1b[0m" if had_colours else text
