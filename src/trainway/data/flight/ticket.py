"""Which rows a `DoGet` asks for: the bytes that upstream's head gives and its workers read.

Upstream's ticket is a pair of row numbers, the last one included, as bincode 2 writes it: numbers
below 251 are a byte, others a mark and two, four or eight bytes. Ours may have several pairs in a
row, for a reader that wants several places at once, or none for a reader that gets no rows.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from trainway.data.flight.row_range import RowRange
from trainway.errors import UsageError

MOST_BYTES: Final = 4 << 20
_MOST_ROWS: Final = 1 << 60
_SIZES: Final = {251: 2, 252: 4, 253: 8}


def encode(ranges: Iterable[RowRange]) -> bytes:
    """The ticket for these rows; empty ranges are left out."""
    numbers = (number for each in ranges if each for number in (each.start, each.stop - 1))
    return b"".join(map(_varint, numbers))


def decode(ticket: bytes) -> Sequence[RowRange]:
    """The rows that a ticket asks for."""
    if len(ticket) > MOST_BYTES:
        raise UsageError(f"the ticket has {len(ticket)} bytes; {MOST_BYTES} are allowed")
    numbers, offset = [], 0
    while offset < len(ticket):
        number, offset = _number(ticket, offset)
        numbers.append(number)
    if len(numbers) % 2:
        raise _malformed()
    pairs = zip(numbers[::2], numbers[1::2], strict=True)
    ranges = [RowRange(start, end + 1) for start, end in pairs]
    if max(numbers, default=0) >= _MOST_ROWS or not all(ranges):
        raise _malformed()
    return ranges


def _varint(number: int) -> bytes:
    if number < 251:
        return bytes([number])
    mark, size = next((mark, size) for mark, size in _SIZES.items() if number < 1 << 8 * size)
    return bytes([mark]) + number.to_bytes(size, "little")


def _number(ticket: bytes, offset: int) -> tuple[int, int]:
    first = ticket[offset]
    if first < 251:
        return first, offset + 1
    end = offset + 1 + _SIZES.get(first, len(ticket))
    if end > len(ticket):
        raise _malformed()
    return int.from_bytes(ticket[offset + 1 : end], "little"), end


def _malformed() -> UsageError:
    return UsageError("the ticket is none of this cache", hint="use the one that the head gave")
