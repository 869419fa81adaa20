import errno
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trainway.agent.base.log_limit import LogLimit, is_closed
from trainway.agent.kubelet import log_writer
from trainway.agent.kubelet.log_writer import STDERR, STDOUT, LogWriter
from trainway.agent.kubelet.long_lines import LINE_LIMIT

STAMP = b"2026-11-15T05:10:00.500000Z"
NOON = 1794719400.5


class Log:
    """A log file in a directory of its own, with a clock that the test moves."""

    def __init__(self, path: Path, limit: LogLimit | None = None) -> None:
        self.path = path
        self.now = NOON
        self.errors: list[OSError] = []
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        self.writer = LogWriter(fd, self.errors.append, lambda: self.now, limit)

    def text(self) -> bytes:
        return self.path.read_bytes()


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path / "log")


def test_every_line_has_its_time_and_stream(log: Log) -> None:
    log.writer.feed(STDOUT, b"one\ntwo\n")
    log.writer.feed(STDERR, b"three\n")
    assert log.text() == b"".join(
        STAMP + line for line in (b" o one\n", b" o two\n", b" e three\n")
    )


def test_unfinished_lines_do_not_mix(log: Log) -> None:
    log.writer.feed(STDOUT, b"a")
    log.writer.feed(STDERR, b"b\n")
    log.writer.feed(STDOUT, b"c\nd")
    log.writer.close()
    assert log.text().replace(STAMP, b"") == b" e b\n o ac\n o d\n"


def test_a_long_line_becomes_several_as_it_comes(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_writer, "LINE_LIMIT", 4)
    log.writer.feed(STDOUT, b"123456789")
    assert log.text().replace(STAMP, b"") == b" O 1234\n O 5678\n"
    log.writer.feed(STDERR, b"between\n"[:4])
    log.writer.feed(STDERR, b"\n")
    log.writer.feed(STDOUT, b"\nnext one\n")
    assert log.text().replace(STAMP, b"").partition(b" e ")[2] == (
        b"betw\n o 9\n O next\n o  one\n"
    )


def test_a_line_of_just_that_length_is_one(log: Log) -> None:
    log.writer.feed(STDOUT, b"x" * LINE_LIMIT)
    assert log.text() == b""
    log.writer.feed(STDOUT, b"\n")
    assert log.text() == STAMP + b" o " + b"x" * LINE_LIMIT + b"\n"


def test_an_endless_line_takes_little_memory_and_no_line_is_long(log: Log) -> None:
    for _ in range(40):
        log.writer.feed(STDOUT, b"x" * 100_000)
    log.writer.close()
    *begun, last, end = log.text().split(b"\n")
    assert (end, {len(line) for line in begun}) == (b"", {len(STAMP) + 3 + LINE_LIMIT})
    assert {line[28:30] for line in begun} == {b"O "}
    assert last[28:30] == b"o "
    assert sum(len(line) - len(STAMP) - 3 for line in [*begun, last]) == 4_000_000


@pytest.mark.parametrize("character", ["\u00e4", "\u20ac", "\U0001f600"])
@pytest.mark.parametrize("shift", range(4))
def test_no_character_is_torn(log: Log, character: str, shift: int) -> None:
    text = "a" * shift + character * LINE_LIMIT
    log.writer.feed(STDOUT, text.encode())
    log.writer.close()
    parts = [line[30:].decode() for line in log.text().splitlines()]
    assert "".join(parts) == text
    assert max(len(part.encode()) for part in parts) <= LINE_LIMIT


def test_bytes_that_are_no_text_are_cut_all_the_same(log: Log) -> None:
    log.writer.feed(STDOUT, b"\x80" * 2 * LINE_LIMIT + b"\n")
    assert [len(line) - 30 for line in log.text().splitlines()] == [LINE_LIMIT, LINE_LIMIT]


def test_the_limit_of_a_job_is_told_in_the_last_line(tmp_path: Path) -> None:
    told: list[str] = []
    limit = LogLimit(1000, 900, told.append)
    log, other = Log(tmp_path / "log", limit), Log(tmp_path / "other", limit)
    log.writer.feed(STDOUT, b"first\nsecond\nthird\n")
    log.writer.feed(STDOUT, b"fourth\n")
    other.writer.feed(STDERR, b"elsewhere, and longer than what is left\n")
    first, second, notice = log.text().splitlines()
    assert (first[30:], second[30:]) == (b"first", b"second")
    assert notice[28:].startswith(
        b"e trainway: the logs of this job have reached their limit of 1 kB"
    )
    assert b"limits.logs_per_job in config.yaml" in notice
    assert other.text() == notice + b"\n"
    assert told == [notice[30:].decode().removeprefix("trainway: ")]
    assert log.writer.dropped == 2 * 31 + len("thirdfourth")
    assert is_closed(os.open(tmp_path / "other", os.O_RDONLY))


def test_progress_bars_move(log: Log) -> None:
    log.writer.feed(STDERR, b"\r 1%")
    log.writer.feed(STDERR, b"\r 2%")
    assert log.text() == b""
    log.now += 1.5
    log.writer.feed(STDERR, b"\r 3%")
    assert log.text()[28:] == b"e \r 1%\r 2%\r\n"
    log.writer.feed(STDERR, b"\r 4%\n")
    assert log.text().endswith(b" e  3%\r 4%\n")


def test_windows_line_ends_are_left_alone(log: Log) -> None:
    for _ in range(3):
        log.now += 2
        log.writer.feed(STDOUT, b"line\r")
        log.now += 2
        log.writer.feed(STDOUT, b"\n")
    assert log.text().count(b"\n") == 3


def test_appending_to_a_torn_file_starts_a_new_line(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"torn")
    log = Log(tmp_path / "log")
    log.writer.feed(STDOUT, b"new\n")
    assert log.text() == b"torn\n" + STAMP + b" o new\n"


def test_a_full_disk_is_told_once_and_lines_stay_whole(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = [40]
    write = os.write

    def limited(fd: int, data: memoryview) -> int:
        count = min(room[0], len(data))
        if not count:
            raise OSError(errno.ENOSPC, "No space left on device")
        room[0] -= count
        return write(fd, data[:count])

    monkeypatch.setattr(os, "write", limited)
    log.writer.feed(STDOUT, b"first\nsecond\n")
    log.writer.feed(STDOUT, b"third\n")
    assert len(log.errors) == 1
    given = STAMP + b" o first\n" + STAMP + b" o second\n" + b"\n" + STAMP + b" o third\n"
    assert log.writer.dropped == len(given) - 40
    room[0] = 1000
    log.writer.feed(STDOUT, b"fourth\n")
    assert log.text().endswith(b"\n" + STAMP + b" o fourth\n")


PIECES = st.binary(max_size=30) | st.text("ab\n", max_size=12).map(str.encode)
CHUNKS = st.lists(st.tuples(st.sampled_from([STDOUT, STDERR]), PIECES), max_size=30)


@given(chunks=CHUNKS, limit=st.integers(1, 40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_byte_is_lost(tmp_path: Path, chunks: list[tuple[bytes, bytes]], limit: int) -> None:
    path = tmp_path / "log"
    path.unlink(missing_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_writer, "LINE_LIMIT", limit)
        log = Log(path)
        for stream, data in chunks:
            log.writer.feed(stream, data)
        log.writer.close()
    lines = log.text().split(b"\n")
    assert lines.pop() == b""
    for stream in (STDOUT, STDERR):
        given_ = b"".join(data for name, data in chunks if name == stream)
        whole = given_ + (b"" if given_.endswith(b"\n") or not given_ else b"\n")
        prefix, begun = STAMP + b" " + stream + b" ", STAMP + b" " + stream.upper() + b" "
        mine = [x for x in lines if x.startswith((prefix, begun))]
        ends = [b"\n" if x.startswith(prefix) else b"" for x in mine]
        got = b"".join(x[len(prefix) :] + end for x, end in zip(mine, ends, strict=True))
        assert got == whole
        assert max(map(len, mine), default=0) <= len(prefix) + limit
