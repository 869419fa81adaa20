from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainway.backends.logs.files import (
    LogFile,
    last_lines,
    lines,
    log_files,
    offset_of_time,
    parts_of,
    time_of,
    time_text,
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


@settings(deadline=None)
@given(TEXTS, st.binary(max_size=5).map(lambda b: b.replace(b"\n", b"")), st.integers(0, 40))
def test_the_last_lines_are_found_from_the_end(
    folder: Path, texts: list[bytes], rest: bytes, count: int
) -> None:
    data = b"".join(stamp(n) + b" o " + text + b"\n" for n, text in enumerate(texts))
    file = written(folder / "x", data + rest)
    found, end = last_lines(file, count)
    assert end == len(data)
    wanted = list(enumerate(texts))[max(0, len(texts) - count) :]
    assert [time for time, _ in found] == [stamp(n) for n, _ in wanted]
    for (_, offset), (_, text) in zip(found, wanted, strict=True):
        line, _ = next(lines(file, offset, file.size()))
        assert parts_of(line)[2] == text


@settings(deadline=None)
@given(TEXTS, st.floats(-1, 31))
def test_a_time_is_found_by_bisection(folder: Path, texts: list[bytes], second: float) -> None:
    data = b"".join(stamp(n) + b" o " + text + b"\n" for n, text in enumerate(texts))
    file = written(folder / "y", data)
    offset = offset_of_time(file, stamp(second))
    times = [time_of(line) for line, _ in lines(file, offset, len(data))]
    assert times == [stamp(n) for n in range(len(texts)) if stamp(n) >= stamp(second)]


@settings(deadline=None)
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
    ((time, offset),), end = last_lines(big, 1)
    assert (time, offset, end) == (stamp(1), (1 << 40) + 1, big.size())


def test_a_file_that_was_removed_is_empty(tmp_path: Path) -> None:
    gone = LogFile(0, "node", 0, 0, "main", tmp_path / "gone")
    assert gone.size() == 0
    assert list(lines(gone, 0, 10)) == []
