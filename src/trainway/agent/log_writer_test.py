import errno
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trainway.agent import log_writer
from trainway.agent.log_writer import STDERR, STDOUT, LogWriter

STAMP = b"2026-11-15T05:10:00.500000Z"
NOON = 1794719400.5


class Log:
    """A log file in a directory of its own, with a clock that the test moves."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.now = NOON
        self.errors: list[OSError] = []
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        self.writer = LogWriter(fd, self.errors.append, lambda: self.now)

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


def test_a_long_line_is_written_as_it_comes(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_writer, "LINE_LIMIT", 10)
    log.writer.feed(STDOUT, b"x" * 11)
    assert log.text() == STAMP + b" o " + b"x" * 11
    log.writer.feed(STDERR, b"waits\n")
    log.writer.feed(STDOUT, b"yy\nnext\n")
    assert log.text().replace(STAMP, b"") == b" o xxxxxxxxxxxyy\n e waits\n o next\n"


def test_what_waits_too_long_breaks_the_line(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_writer, "LINE_LIMIT", 4)
    monkeypatch.setattr(log_writer, "HELD_LIMIT", 6)
    log.writer.feed(STDOUT, b"12345")
    log.writer.feed(STDERR, b"abc\ndef\n")
    log.writer.feed(STDOUT, b"6\n")
    assert log.text().replace(STAMP, b"") == b" o 12345\n e abc\n e def\n o 6\n"


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
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
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
        prefix = STAMP + b" " + stream + b" "
        got = b"".join(x[len(prefix) :] + b"\n" for x in lines if x.startswith(prefix))
        assert got == whole
