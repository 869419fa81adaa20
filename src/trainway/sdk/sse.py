"""Server-sent events: a stream of bytes to events, by the rules of the HTML standard."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class ServerEvent:
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
    for line in _lines(read):
        if not line:
            if data:
                yield ServerEvent(kind or "message", "\n".join(data), last_id)
            kind, data = "", []
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            data.append(value)
        elif name == "event":
            kind = value
        elif name == "id" and "\0" not in value:
            last_id = value


def _lines(read: Callable[[int], bytes]) -> Iterator[str]:
    """Complete lines, which end in LF, CR LF or CR."""
    rest = b""
    while chunk := read(_CHUNK):
        held = b""
        if chunk.endswith(b"\r"):  # the LF of this CR may come with the next bytes
            chunk, held = chunk[:-1], b"\r"
        text = rest + chunk
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, rest = text.split(b"\n")
        rest += held
        for line in lines:
            yield line.decode(errors="replace")
    if rest.endswith(b"\r"):
        yield rest[:-1].decode(errors="replace")
