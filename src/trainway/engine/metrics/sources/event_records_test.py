import base64
import math
import struct

import pytest

from trainway.engine.metrics.sources.event_records import (
    DamagedFileError,
    Scalars,
    _masked,
    scalars,
)


def record(body: bytes) -> bytes:
    length = struct.pack("<Q", len(body))
    checks = [struct.pack("<I", _masked(part)) for part in (length, body)]
    return length + checks[0] + body + checks[1]


def message(number: int, body: bytes) -> bytes:
    return bytes([number << 3 | 2, len(body)]) + body


def event(step: int, value: bytes, time: float = 5.0) -> bytes:
    head = b"\x09" + struct.pack("<d", time) + b"\x10" + bytes([step])
    return record(head + message(5, message(1, value)))


SIMPLE = message(1, b"loss") + b"\x15" + struct.pack("<f", 0.5)
TENSOR = message(1, b"acc") + message(8, b"\x08\x01\x12\x00" + message(4, struct.pack("<f", 2)))
VECTOR = message(1, b"v") + message(8, b"\x08\x01" + message(2, b"\x12\x02\x08\x02"))
FILE = event(1, SIMPLE) + record(b"\x1a\x03abc") + event(2, TENSOR) + event(3, VECTOR)

OF_TORCH = base64.b64decode(
    "SAAAAAAAAAD+kkidCSMGDTXtvtpBGg1icmFpbi5FdmVudDoyUi4KLHRlbnNvcmJvYXJkLnN1bW1hcnkud3JpdGVy"
    "LmV2ZW50X2ZpbGVfd3JpdGVyfokmYSAAAAAAAAAAKe2pUAk/Fg017b7aQRABKhMKEQoKdHJhaW4vbG9zcxUAAIA/"
    "L11G1ysAAAAAAAAAhhvDSwmmFw017b7aQRABKh4KHAoDbmV3QggIASoEAAAgQEoLCgkKB3NjYWxhcnOL8bjKIAAA"
    "AAAAAAAp7alQCR8YDTXtvtpBEAIqEwoRCgp0cmFpbi9sb3NzFQAAAD8SlA0aKwAAAAAAAACGG8NLCccYDTXtvtpB"
    "EAIqHgocCgNuZXdCCAgBKgQAAKBASgsKCQoHc2NhbGFyc0zRXuQgAAAAAAAAACntqVAJMxkNNe2+2kEQAyoTChEK"
    "CnRyYWluL2xvc3MVq6qqPu+RSvErAAAAAAAAAIYbw0sJuxkNNe2+2kEQAyoeChwKA25ld0IICAEqBAAA8EBKCwoJ"
    "CgdzY2FsYXJz+xjsMw=="
)
"""Of SummaryWriter of torch 2: `train/loss` is 1 / step, and `new` is in the new style."""


def test_the_checksum_is_that_of_the_standard() -> None:
    check = 0xE3069283  # of 123456789, by RFC 3720
    assert _masked(b"123456789") == ((check >> 15 | check << 17) + 0xA282EAD8) & 0xFFFFFFFF


def test_both_forms_of_scalars() -> None:
    found = list(scalars(FILE, 0, len(FILE)))
    kept = [(one.time, one.step, one.values) for one in found if one.values]
    assert kept == [(5.0, 1, {"loss": 0.5}), (5.0, 2, {"acc": 2.0})]
    assert found[-1].end == len(FILE)


def test_a_file_of_torch() -> None:
    found = list(scalars(OF_TORCH, 0, len(OF_TORCH)))
    assert [(one.step, dict(one.values)) for one in found if one.values] == [
        (1, {"train/loss": 1.0}),
        (1, {"new": 2.5}),
        (2, {"train/loss": 0.5}),
        (2, {"new": 5.0}),
        (3, {"train/loss": struct.unpack("<f", struct.pack("<f", 1 / 3))[0]}),
        (3, {"new": 7.5}),
    ]
    assert found[-1].end == len(OF_TORCH)


def test_a_file_that_grows_byte_by_byte_gives_each_event_once() -> None:
    found: list[Scalars] = []
    position = 0
    for size in range(len(FILE) + 1):
        for one in scalars(FILE[position:size], position, size):
            found.append(one)
            position = one.end
    assert found == list(scalars(FILE, 0, len(FILE)))


def test_a_long_record_is_passed_over_without_being_read() -> None:
    long = record(b"x" * 100_000)
    whole = long + FILE
    (first,) = scalars(whole[:12], 0, len(whole))
    assert first == Scalars(len(long))
    assert list(scalars(whole[:12], 0, len(long) - 1)) == []
    assert len(list(scalars(FILE, len(long), len(whole)))) == 4


@pytest.mark.parametrize("place", [0, 9, 15, 40])
def test_a_damaged_byte_is_noticed(place: int) -> None:
    damaged = bytearray(FILE)
    damaged[place] ^= 1
    with pytest.raises(DamagedFileError):
        list(scalars(bytes(damaged), 0, 1 << 70))


@pytest.mark.parametrize(
    "body", [b"\x2a\xff\x01a", b"\x80", b"\xff" * 20, b"\x2b", b"\x2a\x02\x0a\x09", b"\x09abc"]
)
def test_what_is_no_event_has_no_values(body: bytes) -> None:
    whole = record(body)
    assert list(scalars(whole, 0, len(whole))) == [Scalars(len(whole))]


def test_values_that_are_no_numbers_stay() -> None:
    whole = event(1, message(1, b"x") + b"\x15" + struct.pack("<f", math.nan))
    (one,) = scalars(whole, 0, len(whole))
    assert math.isnan(one.values["x"])
