"""Lines that are too long to be kept as one: where they are cut.

A part that others follow is marked in a log file by the capital letter of its stream (`O`, `E`),
the last one by the usual small letter, so that whoever wants the line as it was can join them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LINE_LIMIT = 64 * 1024
"""How many bytes of text one line of a log file may have, without what stands before it."""
_LONGEST_CHARACTER = 4
_CONTINUES, _BEGINS = 0x80, 0xC0


def end_of_part(text: bytes | bytearray | memoryview, end: int) -> int:
    """Where to cut so that no more than that is before it, and no character of UTF-8 is torn."""
    for back in range(min(_LONGEST_CHARACTER, end)):
        if text[end - back] & _BEGINS != _CONTINUES:
            return end - back
    return end


def parts_of(text: bytes, limit: int = LINE_LIMIT) -> Iterator[bytes]:
    """A line in parts; the last one has something in it unless the line is empty."""
    begin = 0
    while len(text) - begin > limit:
        end = begin + end_of_part(memoryview(text)[begin : begin + limit + 1], limit)
        yield text[begin:end]
        begin = end
    yield text[begin:]
