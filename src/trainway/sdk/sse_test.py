from collections.abc import Callable

import pytest

from trainway.errors import UnavailableError
from trainway.sdk.sse import ServerEvent, read_events


def reader(*chunks: bytes) -> Callable[[int], bytes]:
    left = list(chunks)
    return lambda _size: left.pop(0) if left else b""


@pytest.mark.parametrize(
    ("chunks", "events"),
    [
        ([b"data: a\n\n"], [ServerEvent("message", "a", "")]),
        ([b"event: log\nid: 7\ndata: a\n\n"], [ServerEvent("log", "a", "7")]),
        ([b"da", b"ta: a\ndata:b\n", b"\n"], [ServerEvent("message", "a\nb", "")]),
        ([b"data: a\r\n\r\ndata: b\r\r"], [ServerEvent("message", x, "") for x in "ab"]),
        ([b"data: a\r", b"\n\r", b"\n"], [ServerEvent("message", "a", "")]),
        ([b": ping\n\n", b"retry: 3\n\n"], []),
        ([b"id: 1\ndata: a\n\n", b"data: b\n\n"], [ServerEvent("message", x, "1") for x in "ab"]),
        ([b"id: a\0b\ndata: a\n\n"], [ServerEvent("message", "a", "")]),
        ([b"data: a\n\ndata: cut"], [ServerEvent("message", "a", "")]),
        ([b"data: a\n\ndata: cut\n"], [ServerEvent("message", "a", "")]),
        ([b"data: \xc3", b"\xa4\n\n"], [ServerEvent("message", "\xe4", "")]),
        ([b"data\n\n"], [ServerEvent("message", "", "")]),
        ([], []),
    ],
)  # fmt: skip
def test_events_are_read_as_the_standard_says(
    chunks: list[bytes], events: list[ServerEvent]
) -> None:
    assert list(read_events(reader(*chunks))) == events


def test_a_long_line_is_put_together_once() -> None:
    """Each byte is looked at a few times, however many pieces a line comes in."""
    count, size = 600, 1 << 16
    pieces = [b"data: ", *[Counted(b"x" * size) for _ in range(count)], b"\n\n"]
    (event,) = read_events(reader(*pieces))
    assert len(event.data) == count * size
    assert Counted.added == 0


class Counted(bytes):
    """Counts how often it is put behind something that is not empty."""

    added = 0

    def __radd__(self, other: bytes) -> bytes:
        Counted.added += bool(other)
        return bytes(other) + bytes(self)


def test_a_line_that_never_ends_is_given_up() -> None:
    with pytest.raises(UnavailableError, match="a line of more than 64 MiB"):
        list(read_events(lambda size: b"x" * size))
