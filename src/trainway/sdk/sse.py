"""Server-sent events: a stream of bytes to events, by the rules of the HTML standard."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

_CHUNK = 1 << 16


class ServerEvent(NamedTuple):
    """One event of a stream."""

    event: str
    data: str
    id: str
    """What to show to resume after this event; empty if the stream has not named any yet."""


def read_events(read: Callable[[int], bytes]) -> Iterator[ServerEvent]:
    """The events of a stream; `read` gives some bytes, and none at its end.

    An event that the stream breaks off in is left out, since resuming brings it again.
    """
    kind, last_id = "", ""
    data: list[str] = []
    for lines in _lines(read):
        for line in lines:
            if line:
                name, _, value = line.partition(":")
                value = value[1:] if value[:1] == " " else value
                if name == "data":
                    data.append(value)
                elif name == "event":
                    kind = value
                elif name == "id" and "\0" not in value:
                    last_id = value
                continue
            if data:
                yield ServerEvent(kind or "message", "\n".join(data), last_id)
            kind, data = "", []


def _lines(read: Callable[[int], bytes]) -> Iterator[list[str]]:
    """Complete lines, some at a time; they end in LF, CR LF or CR."""
    rest = b""
    while chunk := read(_CHUNK):
        held = b""
        if chunk.endswith(b"\r"):  # the LF of this CR may come with the next bytes
            chunk, held = chunk[:-1], b"\r"
        text = rest + chunk
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        complete, newline, rest = text.rpartition(b"\n")
        rest += held
        if newline:
            yield complete.decode(errors="replace").split("\n")
    if rest.endswith(b"\r"):
        yield [rest[:-1].decode(errors="replace")]
