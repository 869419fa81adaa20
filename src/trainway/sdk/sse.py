"""Server-sent events: a stream of bytes to events, by the rules of the HTML standard."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from trainway.errors import UnavailableError

_CHUNK = 1 << 16
_LONGEST = 1 << 26
"""The most bytes of one line; our server sends no event of more than a few hundred thousand."""


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
    """Complete lines, some at a time; they end in LF, CR LF or CR.

    The pieces of an unfinished line are put together once, however many they are.
    """
    unfinished: list[bytes] = []
    held, length = b"", 0
    while chunk := read(_CHUNK):
        text, held = held + chunk, b""
        if text.endswith(b"\r"):  # the LF of this CR may come with the next bytes
            text, held = text[:-1], b"\r"
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        complete, newline, rest = text.rpartition(b"\n")
        if newline:
            lines = b"".join([*unfinished, complete])
            unfinished = [rest] if rest else []
            yield lines.decode(errors="replace").split("\n")
            length = len(rest)
        elif rest:
            unfinished.append(rest)
            length += len(rest)
        if length > _LONGEST:
            raise UnavailableError(f"the server sends a line of more than {_LONGEST >> 20} MiB")
    if held:
        yield [b"".join(unfinished).decode(errors="replace")]
