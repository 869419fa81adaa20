from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.backends.kubernetes.kubelet_lines import (
    LONGEST,
    REDRAWN,
    Entry,
    KubeletLines,
    entry_of,
)

TIME = b"2026-11-15T05:10:00.123456Z"
STAMP = b"2026-11-15T05:10:00.123456789Z "


@dataclass(frozen=True)
class Case:
    name: str
    line: bytes
    entry: Entry | None


@pytest.mark.parametrize(
    "case",
    [
        Case("usual", STAMP + b"text", Entry(TIME, b"text")),
        Case("empty", STAMP, Entry(TIME, b"")),
        Case("bytes", STAMP + b"\xff\x00\r", Entry(TIME, b"\xff\x00\r")),
        Case(
            "few digits", b"2026-11-15T05:10:00.5Z x", Entry(b"2026-11-15T05:10:00.500000Z", b"x")
        ),
        Case(
            "whole second", b"2026-11-15T05:10:00Z x", Entry(b"2026-11-15T05:10:00.000000Z", b"x")
        ),
        Case("time zone", b"2026-11-15T07:10:00.123456789+02:00 x", Entry(TIME, b"x")),
        Case("no time", b"unable to retrieve container logs", None),
        Case("nothing", b"", None),
    ],
    ids=lambda case: case.name,
)
def test_lines(case: Case) -> None:
    assert entry_of(case.line) == case.entry


def fed(data: bytes, sizes: list[int]) -> list[Entry]:
    lines = KubeletLines()
    found = []
    for size in sizes:
        piece, data = data[:size], data[size:]
        found += lines.feed(piece)
    return found + lines.feed(data) + lines.rest()


_TEXTS = st.lists(
    st.one_of(
        st.binary(max_size=40).map(lambda text: text.replace(b"\n", b"")),
        st.integers(1, 3).map(lambda count: b"x" * (REDRAWN - 1) * count + b"\r" + b"y" * count),
        st.integers(0, 9).map(lambda count: (b"%d" % count * 3000 + b"\r") * count),
    ),
    max_size=6,
)


@given(_TEXTS, st.lists(st.integers(1, 5000), max_size=20))
def test_it_does_not_matter_how_the_network_cuts(texts: list[bytes], sizes: list[int]) -> None:
    data = b"".join(STAMP + text + b"\n" for text in texts)
    whole = fed(data, [])
    assert fed(data, sizes) == whole
    assert b"".join(entry.text for entry in whole) == b"".join(texts)
    assert {entry.time for entry in whole} <= {TIME}


def test_a_long_line_is_one_line() -> None:
    text = b"x" * (LONGEST - 1)
    assert fed(STAMP + text + b"\n", [7, 16384]) == [Entry(TIME, text)]


def test_a_line_beyond_measure_is_cut_before_its_end_comes() -> None:
    lines = KubeletLines()
    assert lines.feed(STAMP + b"x" * LONGEST) == []
    assert lines.feed(b"y") == [Entry(TIME, b"x" * LONGEST, is_part=True)]
    assert lines.feed(b"y\n") == [Entry(TIME, b"yy")]


def test_parts_of_a_line_say_that_they_are() -> None:
    parts = [entry.line() for entry in fed(STAMP + b"x" * (2 * LONGEST + 1) + b"\n", [])]
    assert [part[:30] for part in parts] == [TIME + b" O ", TIME + b" O ", TIME + b" o "]


@pytest.mark.parametrize("before", [1, LONGEST - 3000, LONGEST - 17, LONGEST - 3, LONGEST - 1])
@pytest.mark.parametrize("sizes", [[], [1000] * 200, [65_000, 1, 1, 1, 1, 1000, 1000]])
def test_a_piece_of_a_value_is_never_cut(before: int, sizes: list[int]) -> None:
    piece = b"\x1etrainway-result 1 0 2 " + b"A" * 3000
    *_, last = fed(STAMP + b"x" * before + piece + b"\n", sizes)
    assert last.text.endswith(piece)


def test_what_is_no_line_takes_no_memory() -> None:
    lines = KubeletLines()
    for _ in range(100):
        assert lines.feed(b"x" * 100_000) == []
    assert len(lines._pending) < 200_000
    assert lines.feed(b"\n" + STAMP + b"line\n") == [Entry(TIME, b"line")]


def test_a_progress_bar_is_seen_before_its_line_ends() -> None:
    lines = KubeletLines()
    drawn = b"a" * REDRAWN + b"\r"
    assert lines.feed(STAMP + drawn) == []
    assert lines.feed(b"b") == [Entry(TIME, drawn)]
    assert lines.feed(b"\n") == [Entry(TIME, b"b")]


def test_dos_line_ends_are_left_alone() -> None:
    text = b"a" * REDRAWN + b"\r"
    assert fed(STAMP + text + b"\n", []) == [Entry(TIME, text)]


def test_what_has_no_end_counts_only_at_the_end() -> None:
    lines = KubeletLines()
    assert lines.feed(STAMP + b"half") == []
    assert lines.rest() == [Entry(TIME, b"half")]
    assert lines.rest() == []
