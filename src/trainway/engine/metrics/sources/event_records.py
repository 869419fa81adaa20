"""The scalars in a TensorBoard file, read without tensorflow. Pure.

A file is a row of records, each with its length and checksums (CRC-32C, masked); a record is an
Event in the wire format of protocol buffers. Scalars are small, so longer records are passed over.
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

_HEAD: Final = struct.Struct("<QI")
_CHECK: Final = struct.Struct("<I")
_DOUBLE, _FLOAT = struct.Struct("<d"), struct.Struct("<f")
_LONGEST: Final = 1 << 14
"""The most bytes of a record that is looked at."""
_MASK: Final = 0xA282EAD8
_POLYNOMIAL: Final = 0x82F63B78
_TYPES: Final[Mapping[int, struct.Struct]] = {
    1: _FLOAT,
    2: _DOUBLE,
    3: struct.Struct("<i"),
    9: struct.Struct("<q"),
}
"""The types of tensors whose content can be a number: float, double, int32 and int64."""
_FIXED: Final = {1: 8, 5: 4}
"""The sizes of what has a fixed one, by wire type."""


class DamagedFileError(ValueError):
    """What stands there is no record, so nothing behind it can be found."""


@dataclass(frozen=True)
class Scalars:
    """The numbers of one event."""

    end: int
    """Where the next record begins."""
    time: float = 0.0
    step: int = 0
    values: Mapping[str, float] = field(default_factory=dict)


def scalars(data: bytes, start: int, size: int) -> Iterator[Scalars]:
    """The events in a part of a file that begins at `start`; the file has `size` bytes now.

    One that is not complete yet is left for later; one without scalars has no values.
    """
    position = 0
    while len(data) - position >= _HEAD.size:
        length, check = _HEAD.unpack_from(data, position)
        if check != _masked(data[position : position + 8]):
            raise DamagedFileError(f"there is no record at byte {start + position}")
        begin = position + _HEAD.size
        end = begin + length + _CHECK.size
        if start + end > size or (length <= _LONGEST and end > len(data)):
            return
        if length > _LONGEST:
            yield Scalars(start + end)
        else:
            body = data[begin : end - _CHECK.size]
            if _CHECK.unpack_from(data, end - _CHECK.size) != (_masked(body),):
                raise DamagedFileError(f"the record at byte {start + position} is damaged")
            yield _event(body, start + end)
        position = end


def _event(body: bytes, end: int) -> Scalars:
    time, step, values = 0.0, 0, {}
    try:
        for number, value in _fields(body):
            if number == 1 and isinstance(value, bytes):
                (time,) = _DOUBLE.unpack(value)
            elif number == 2 and isinstance(value, int):
                step = value - (1 << 64) if value >> 63 else value
            elif number == 5 and isinstance(value, bytes):
                values = dict(_summary(value))
    except (ValueError, IndexError, struct.error):
        return Scalars(end)
    return Scalars(end, time, step, values)


def _summary(body: bytes) -> Iterator[tuple[str, float]]:
    for number, value in _fields(body):
        if number != 1 or not isinstance(value, bytes):
            continue
        tag, found = "", None
        for inner, content in _fields(value):
            if inner == 1 and isinstance(content, bytes):
                tag = content.decode("utf-8", "replace")
            elif inner == 2 and isinstance(content, bytes):
                (found,) = _FLOAT.unpack(content)
            elif inner == 8 and isinstance(content, bytes):
                found = _tensor(content)
        if tag and found is not None:
            yield tag, found


def _tensor(body: bytes) -> float | None:
    """The number that a tensor of no dimension is; None: it is something else."""
    kind, content = 0, b""
    for number, value in _fields(body):
        if number == 1 and isinstance(value, int):
            kind = value
        elif number == 2 and value:
            return None
        elif number in (4, 5, 6) and isinstance(value, bytes):
            content = value
    form = _TYPES.get(kind)
    return float(form.unpack(content)[0]) if form and len(content) == form.size else None


def _fields(body: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The numbers of fields, and what is in them."""
    position = 0
    while position < len(body):
        key, position = _varint(body, position)
        kind = key & 7
        if kind == 0:
            value, position = _varint(body, position)
            yield key >> 3, value
            continue
        length = _FIXED.get(kind, 0)
        if kind == 2:
            length, position = _varint(body, position)
        elif not length:
            raise ValueError(f"there is no wire type {kind}")
        if position + length > len(body):
            raise ValueError("a field is longer than its message")
        yield key >> 3, body[position : position + length]
        position += length


def _varint(body: bytes, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = body[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (1 << 64) - 1, position
    raise ValueError("a number is too long")


def _table() -> tuple[int, ...]:
    def entry(value: int) -> int:
        for _ in range(8):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
        return value

    return tuple(entry(value) for value in range(256))


_TABLE: Final = _table()


def _masked(data: bytes) -> int:
    """The checksum of data as records have it."""
    check = 0xFFFFFFFF
    for byte in data:
        check = _TABLE[(check ^ byte) & 0xFF] ^ check >> 8
    check ^= 0xFFFFFFFF
    return ((check >> 15 | check << 17) + _MASK) & 0xFFFFFFFF
