"""Tickets: the bytes of upstream's, and what strangers send."""

from contextlib import suppress
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.data.flight.row_range import RowRange
from trainway.data.flight.ticket import MOST_BYTES, decode, encode
from trainway.errors import UsageError


@dataclass(frozen=True)
class Case:
    first: int
    last: int
    ticket: bytes


@pytest.mark.parametrize(
    "case",
    [
        Case(0, 0, b"\x00\x00"),
        Case(0, 250, b"\x00\xfa"),
        Case(251, 65_535, b"\xfb\xfb\x00\xfb\xff\xff"),
        Case(65_536, 2**32 - 1, b"\xfc\x00\x00\x01\x00\xfc\xff\xff\xff\xff"),
        Case(1, 2**32, b"\x01\xfd\x00\x00\x00\x00\x01\x00\x00\x00"),
    ],
)
def test_a_pair_is_written_as_bincode_does(case: Case) -> None:
    assert encode([RowRange(case.first, case.last + 1)]) == case.ticket
    assert decode(case.ticket) == [RowRange(case.first, case.last + 1)]


@given(st.lists(st.tuples(st.integers(0, 2**40), st.integers(1, 2**40))))
def test_what_is_encoded_is_decoded(pairs: list[tuple[int, int]]) -> None:
    ranges = [RowRange(start, start + length) for start, length in pairs]
    assert decode(encode(ranges)) == ranges


def test_empty_ranges_ask_for_nothing() -> None:
    assert encode([RowRange(5, 5)]) == b""
    assert decode(b"") == []


@pytest.mark.parametrize(
    "ticket",
    [b"\x01", b"\xfb\x01", b"\xfe\x00\x00", b"\xff", b"\x05\x04", b"\0" * (MOST_BYTES + 1)],
)
def test_what_is_no_ticket_is_refused(ticket: bytes) -> None:
    with pytest.raises(UsageError, match="ticket"):
        decode(ticket)


@given(st.binary(max_size=50))
def test_any_bytes_are_a_ticket_or_refused(ticket: bytes) -> None:
    with suppress(UsageError):
        assert all(decode(ticket))
