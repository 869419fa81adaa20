"""Lines of logs for people: who wrote them, and nothing that steers the terminal."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from trainway.cli.colours import NODES, painted
from trainway.jobset.labels import ENVIRONMENT
from trainway.sdk.log_line import LogLine

_NARROWEST: Final = 6
_LARGEST_BATCH: Final = 1 << 20
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


def batches(lines: Iterable[LogLine], most: int) -> Iterator[list[LogLine]]:
    """Lines to be shown together: so many at most, and no more than is quickly shown."""
    batch: list[LogLine] = []
    size = 0
    for line in lines:
        batch.append(line)
        size += len(line.text)
        if len(batch) >= most or size >= _LARGEST_BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class LogText:
    """Formats lines; remembers which colour a node has, and how wide names are."""

    def __init__(self, *, colourful: bool, prefix: bool = True, joined: bool = True) -> None:
        self._colourful = colourful
        self._prefix = prefix
        self._joined = joined
        self._colours: dict[str, str] = {}
        self._containers: dict[str, str] = {}
        self._width = _NARROWEST
        self._open: tuple[object, ...] | None = None
        """Whose line the text ends with, where it is not complete."""

    def lines(self, lines: Iterable[LogLine]) -> str:
        """The lines as one text; parts of a long one that follow each other are joined."""
        return "".join([self._line(line) for line in lines])

    def rest(self) -> str:
        """What is missing at the end."""
        is_open, self._open = self._open is not None, None
        return "\n" if is_open else ""

    def _line(self, line: LogLine) -> str:
        if not line.partial and self._open is None:
            return f"{self._prefix_of(line)}{self._text_of(line)}\n"
        source = (line.role, line.rank, line.job, line.container, line.attempt, line.stream)
        before = "" if self._open == source else f"{self.rest()}{self._prefix_of(line)}"
        self._open = source if line.partial and self._joined else None
        end = "" if self._open else "\n"
        return f"{before}{self._text_of(line)}{end}"

    def _prefix_of(self, line: LogLine) -> str:
        if not self._prefix:
            return ""
        node = line.node
        if line.container == ENVIRONMENT:  # the first to write, though a node is known by others
            node = f"{node}/environment"
        elif self._containers.setdefault(node, line.container) != line.container:
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
