import os
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.agent.kubelet.long_lines import LINE_LIMIT
from trainway.backends.logs.files import (
    LogFile,
    last_lines,
    lines,
    log_files,
    offset_of_time,
    parts_of,
    time_of,
    time_text,
    whole_size,
)

START = datetime(2026, 11, 15, tzinfo=UTC)


def stamp(second: float) -> bytes:
    return time_text(START + timedelta(seconds=second))


def written(path: Path, data: bytes) -> LogFile:
    path.write_bytes(data)
    return LogFile(0, "node", 0, 0, "main", path)


def test_a_name_says_which_container_wrote_the_log(tmp_path: Path) -> None:
    for name in ("my-role-1-10.main.2.log", "node-0-0.main.0.log", "notes.txt", "node.log"):
        (tmp_path / name).touch()
    found = [(f.attempt, f.role, f.job, f.rank, f.container) for f in log_files(tmp_path)]
    assert found == [(0, "node", 0, 0, "main"), (2, "my-role", 1, 10, "main")]
    assert log_files(tmp_path / "none") == []


@pytest.mark.parametrize(
    ("line", "time", "stream", "text"),
    [
        (stamp(0) + b" o hello", stamp(0), "stdout", b"hello"),
        (stamp(0) + b" e ", stamp(0), "stderr", b""),
        (b"half a line", b"", "stdout", b"half a line"),
        (stamp(0) + b" x hello", b"", "stdout", stamp(0) + b" x hello"),
    ],
)
def test_lines_are_taken_apart(line: bytes, time: bytes, stream: str, text: bytes) -> None:
    assert parts_of(line) == (time, stream, text)
    assert time_of(line) == time


TEXTS = st.lists(st.binary(max_size=40).map(lambda b: b.replace(b"\n", b"")), max_size=30)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("logs")


@given(TEXTS, st.binary(max_size=5).map(lambda b: b.replace(b"\n", b"")), st.integers(0, 40))
def test_the_last_lines_are_found_from_the_end(
    folder: Path, texts: list[bytes], rest: bytes, count: int
) -> None:
    data = b"".join(stamp(n) + b" o " + text + b"\n" for n, text in enumerate(texts))
    file = written(folder / "x", data + rest)
    found = last_lines(file, count)
    assert whole_size(file) == len(data)
    wanted = list(enumerate(texts))[max(0, len(texts) - count) :]
    assert [time for time, _ in found] == [stamp(n) for n, _ in wanted]
    for (_, offset), (_, text) in zip(found, wanted, strict=True):
        line = next(lines(file, offset, file.size()))
        assert parts_of(line.data)[2] == text


@given(TEXTS, st.floats(-1, 31))
def test_a_time_is_found_by_bisection(folder: Path, texts: list[bytes], second: float) -> None:
    data = b"".join(stamp(n) + b" o " + text + b"\n" for n, text in enumerate(texts))
    file = written(folder / "y", data)
    offset = offset_of_time(file, stamp(second))
    times = [time_of(line.data) for line in lines(file, offset, len(data))]
    assert times == [stamp(n) for n in range(len(texts)) if stamp(n) >= stamp(second)]


@given(TEXTS, st.integers(0, 30))
def test_reading_can_go_on_behind_any_line(folder: Path, texts: list[bytes], first: int) -> None:
    data = b"".join(text + b"\n" for text in texts)
    file = written(folder / "z", data)
    everything = list(lines(file, 0, len(data)))
    begin = everything[first - 1][1] if 0 < first <= len(everything) else 0
    wanted = everything[first:] if begin else everything
    assert list(lines(file, begin, len(data))) == wanted


def test_a_large_file_is_not_read_for_its_end(tmp_path: Path) -> None:
    path = tmp_path / "big"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # a hole, which nobody could read in time
        file.seek(0, 2)
        file.write(b"\n" + stamp(1) + b" o last\n")
    big = LogFile(0, "node", 0, 0, "main", path)
    ((time, offset),) = last_lines(big, 1)
    assert (time, offset, whole_size(big)) == (stamp(1), (1 << 40) + 1, big.size())


def test_a_file_that_was_removed_is_empty(tmp_path: Path) -> None:
    gone = LogFile(0, "node", 0, 0, "main", tmp_path / "gone")
    assert gone.size() == 0
    assert list(lines(gone, 0, 10)) == []


def pieces(file: LogFile, start: int = 0) -> list[tuple[int, bool]]:
    return [(len(line.data), line.is_whole) for line in lines(file, start, file.size())]


def test_a_line_without_end_is_read_in_parts(tmp_path: Path) -> None:
    text = stamp(1) + b" o " + b"x" * (3 * LINE_LIMIT) + b"\n" + stamp(2) + b" o next\n"
    file = written(tmp_path / "long", text)
    longest = LINE_LIMIT + 30
    found = list(lines(file, 0, file.size()))
    assert [line.is_whole for line in found] == [False, False, True, True]
    assert max(len(line.data) for line in found) == longest
    assert b"".join(line.data + b"\n" * line.is_whole for line in found) == text
    assert [line.end for line in found] == [longest, 2 * longest, len(text) - 35, len(text)]
    for index, line in enumerate(found):
        assert list(lines(file, line.end, file.size())) == found[index + 1 :]


def test_half_a_line_is_given_as_soon_as_it_is_too_long(tmp_path: Path) -> None:
    file = written(tmp_path / "half", b"x" * (LINE_LIMIT + 30))
    assert pieces(file) == []
    file.path.write_bytes(b"x" * (LINE_LIMIT + 31))
    assert pieces(file) == [(LINE_LIMIT + 30, False)]


def test_a_huge_line_is_read_in_little_memory_and_linear_time(tmp_path: Path) -> None:
    path = tmp_path / "huge"
    with path.open("wb") as handle:
        handle.truncate(1 << 25)  # a hole, without any newline
        handle.seek(0, 2)
        handle.write(b"\n" + stamp(5) + b" o last\n")
    file = LogFile(0, "node", 0, 0, "main", path)
    tracemalloc.start()
    try:
        assert sum(len(line.data) for line in lines(file, 0, file.size())) == file.size() - 2
        assert offset_of_time(file, stamp(4)) == (1 << 25) + 1
        assert [offset for _, offset in last_lines(file, 5)] == [0, (1 << 25) + 1]
        assert whole_size(file) == file.size()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 << 20


@dataclass(frozen=True)
class Odd:
    name: str
    make: Callable[[Path], object]


ODD = [
    Odd("a pipe", os.mkfifo),
    Odd("a link", lambda path: path.symlink_to("/etc/passwd")),
    Odd("a link to another log", lambda path: path.symlink_to("node-0-0.main.0.log")),
    Odd("a directory", Path.mkdir),
]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd.name)
def test_a_log_that_is_no_file_is_left_out_and_that_is_said_once(
    odd: Odd, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "node-0-0.main.0.log").touch()
    odd.make(tmp_path / "node-0-1.main.0.log")
    for _ in range(3):
        assert [file.rank for file in log_files(tmp_path)] == [0]
    (record,) = caplog.records
    assert "node-0-1.main.0.log is left out: it is not a regular file" in record.getMessage()


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd.name)
def test_a_log_that_becomes_something_else_reads_as_nothing(odd: Odd, tmp_path: Path) -> None:
    path = tmp_path / "node-0-1.main.0.log"
    file = written(path, stamp(1) + b" o text\n")
    path.unlink()
    odd.make(path)
    assert (list(lines(file, 0, 100)), file.size()) == ([], 0)
    assert (offset_of_time(file, stamp(0)), last_lines(file, 3), whole_size(file)) == (0, [], 0)


def test_a_log_that_shrinks_ends_sooner(tmp_path: Path) -> None:
    file = written(tmp_path / "shrinking", b"".join(b"%d\n" % n for n in range(300_000)))
    found = lines(file, 0, file.size())
    assert next(found).data == b"0"
    os.truncate(file.path, 0)
    assert 0 < sum(1 for _ in found) < 299_999
