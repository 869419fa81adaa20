import os
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.agent.base.log_limit import LogLimit
from trainway.backends.kubernetes.container_log import resumption
from trainway.backends.kubernetes.kept_log import KeptLog, Readers, Repeats
from trainway.backends.kubernetes.pods import Place
from trainway.backends.logs.files import log_files, time_text

PLACE = Place("node", 0, 1, 2)
NAME = "node-0-1.main.2.log"


def line(second: float, text: str) -> bytes:
    return b"2026-11-15T05:10:%09.6fZ o %s\n" % (second, text.encode())


def kept(folder: Path) -> KeptLog:
    return KeptLog(folder, PLACE, "main")


def test_the_file_is_one_that_readers_find(tmp_path: Path) -> None:
    log = kept(tmp_path)
    assert (log.name, log.last_time(), len(log.since(None))) == (NAME, b"", 0)
    log.append(line(1, "a") + line(2, "b"))
    (found,) = log_files(tmp_path)
    assert (found.role, found.rank, found.container, found.attempt) == ("node", 1, "main", 2)
    assert log.last_time() == b"2026-11-15T05:10:02.000000Z"
    assert found.path.stat().st_mode & 0o777 == 0o600


def test_what_a_crash_left_of_a_line_is_removed(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(line(1, "a") + line(2, "half")[:-3])
    log = kept(tmp_path)
    assert log.last_time() == b"2026-11-15T05:10:01.000000Z"
    log.append(line(2, "half"))
    assert (tmp_path / NAME).read_bytes() == line(1, "a") + line(2, "half")


def test_nothing_but_half_a_line(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"2026-11-1")
    log = kept(tmp_path)
    assert log.last_time() == b""
    log.append(line(1, "a"))
    assert (tmp_path / NAME).read_bytes() == line(1, "a")


def test_lines_that_come_again_are_told_from_new_ones(tmp_path: Path) -> None:
    log = kept(tmp_path)
    same, late = line(20, "same")[:-1], line(19, "late")[:-1]
    log.append(line(1, "old") + b"".join([same + b"\n"] * 3) + late + b"\n")
    repeats = log.since(datetime(2026, 11, 15, 5, 10, 20, tzinfo=UTC))
    assert len(repeats) == 4
    assert repeats.new([same, late, same, b"new"]) == [b"new"]
    assert repeats.new([same, same]) == [same]
    assert len(log.since(None)) == 5


@given(
    st.lists(st.tuples(st.floats(0, 1.2), st.floats(0, 0.9), st.integers(0, 1)), max_size=40),
    st.lists(st.integers(0, 40), max_size=3),
)
def test_no_line_is_lost_or_doubled_wherever_the_connection_breaks(
    steps: list[tuple[float, float, int]], breaks: list[int]
) -> None:
    second, lines = 5.0, []
    for step, jitter, text in steps:
        second += step
        # Times to the tenth, so that equal lines are equal; stderr may be a little late.
        lines.append(line(round(max(5.0, second - jitter), 1), str(text))[:-1])
    with TemporaryDirectory() as folder:
        log = kept(Path(folder))
        last = b""
        for end in [*breaks, len(lines)]:
            since = resumption(last) if last else None
            asked = time_text(since) if since else b""
            sent = [each for each in lines[:end] if each[:27] >= asked]
            new = (log.since(since) if last else Repeats()).new(sent)
            if new:
                log.append(b"\n".join(new) + b"\n")
                last = max(last, *(each[:27] for each in new))
        path = Path(folder, NAME)
        written = path.read_bytes().splitlines() if path.exists() else []
    assert sorted(written) == sorted(lines)


def test_a_full_disk_leaves_no_half_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = kept(tmp_path)
    log.append(line(1, "a"))
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:5]))
    with pytest.raises(OSError, match="disk is full"):
        log.append(line(2, "b"))
    monkeypatch.undo()
    assert (tmp_path / NAME).read_bytes() == line(1, "a")


def test_readers_are_remembered(tmp_path: Path) -> None:
    readers = Readers(tmp_path)
    assert readers.is_new("f", "a")
    readers.note("f", "a")
    readers.note("f", "b")
    for known in (readers, Readers(tmp_path)):
        assert [known.is_new("f", uid) for uid in "abc"] == [False, False, True]
        assert [known.is_newest("f", uid) for uid in "abc"] == [False, True, False]
        assert known.is_new("g", "a")
    assert log_files(tmp_path) == []


def test_what_exceeds_the_limit_of_the_job_is_dropped(tmp_path: Path) -> None:
    told: list[str] = []
    limit = LogLimit(80, 0, told.append)
    log, other = (KeptLog(tmp_path, PLACE._replace(rank=rank), "main", limit) for rank in (1, 0))
    log.append(line(1, "a") + line(2, "b") + line(3, "c"))
    log.append(line(4, "d"))
    other.append(line(5, "e"))
    first, second, notice = (tmp_path / NAME).read_bytes().splitlines(keepends=True)
    assert (first, second) == (line(1, "a"), line(2, "b"))
    assert b" e trainway: the logs of this job have reached their limit of 80 bytes" in notice
    assert (tmp_path / "node-0-0.main.2.log").read_bytes()[27:] == notice[27:]
    assert len(told) == 1
    later = KeptLog(tmp_path, PLACE, "main", LogLimit(10**6, 400))
    later.append(line(6, "f"))
    assert (tmp_path / NAME).read_bytes() == first + second + notice


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").touch()
    (tmp_path / NAME).symlink_to("elsewhere")
    with pytest.raises(OSError, match="a link"):
        kept(tmp_path).append(line(1, "a"))
    assert (tmp_path / "elsewhere").read_bytes() == b""
