import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainway.backends.logs.cursor import Cursor
from trainway.backends.logs.files import time_text
from trainway.backends.logs.window import (
    TEXT_LIMIT,
    LogSelection,
    LogWindow,
    LogWindows,
    all_lines,
)

START = datetime(2026, 11, 15, tzinfo=UTC)
EVERYTHING = LogSelection(all_attempts=True)


def stamped(second: float, text: str) -> bytes:
    return time_text(START + timedelta(seconds=second)) + b" o " + text.encode() + b"\n"


def write(folder: Path, name: str, *entries: tuple[float, str]) -> None:
    with (folder / f"{name}.log").open("ab") as file:
        file.write(b"".join(stamped(*entry) for entry in entries))


def texts(window: LogWindow) -> list[str]:
    return [line.text.decode() for line in window.lines]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    logs = tmp_path / "logs"
    logs.mkdir()
    write(logs, "node-0-0.main.0", (0, "a0"), (3, "a3"), (5, "a5"))
    write(logs, "node-0-1.main.0", (1, "b1"), (2, "b2"), (4, "b4"))
    write(logs, "node-0-1.main.1", (6, "c6"))
    return logs


@pytest.mark.parametrize(
    ("selection", "wanted"),
    [
        (LogSelection(), ["c6"]),
        (LogSelection(attempt=0), ["a0", "b1", "b2", "a3", "b4", "a5"]),
        (LogSelection(attempt=0, rank=1), ["b1", "b2", "b4"]),
        (LogSelection(rank=1, all_attempts=True), ["b1", "b2", "b4", "c6"]),
        (LogSelection(role="other"), []),
        (LogSelection(job=1, all_attempts=True), []),
        (LogSelection(attempt=7), []),
    ],
)
def test_what_is_selected(folder: Path, selection: LogSelection, wanted: list[str]) -> None:
    windows = LogWindows(folder, selection)
    assert texts(windows.forwards({}, 100)) == wanted
    assert texts(windows.backwards(windows.ends, 100)) == wanted


def test_windows_join_in_both_directions(folder: Path) -> None:
    windows = LogWindows(folder, EVERYTHING)
    last = windows.backwards(windows.ends, 2)
    assert texts(last) == ["a5", "c6"]
    assert last.behind == last.size
    middle = windows.backwards(windows.offsets(Cursor.parse(last.start)), 3)
    assert texts(middle) == ["b2", "a3", "b4"]
    assert middle.behind == last.before
    first = windows.backwards(windows.offsets(Cursor.parse(middle.start)), 100)
    assert (texts(first), first.before) == (["a0", "b1"], 0)
    again = windows.forwards(windows.offsets(Cursor.parse(first.end)), 3)
    assert texts(again) == texts(middle)
    assert (again.start, again.end) == (middle.start, middle.end)


def test_a_place_is_found_by_time_by_share_and_by_line(folder: Path) -> None:
    windows = LogWindows(folder, EVERYTHING)
    assert texts(windows.forwards(windows.at_time(stamped(2, "")[:27]), 2)) == ["b2", "a3"]
    assert texts(windows.forwards(windows.at_share(0), 1)) == ["a0"]
    assert texts(windows.forwards(windows.at_share(0.5), 1))[0] in ("b2", "a3", "b4")
    assert texts(windows.forwards(windows.at_share(1), 10)) == []
    one = LogWindows(folder, LogSelection(attempt=0, rank=0))
    assert texts(one.forwards(one.at_share(0.5), 1)) == ["a5"]
    line = windows.forwards({}, 4).lines[3]
    around = windows.around(line.file.name, line.begin, 4)
    assert texts(around) == ["b1", "b2", "a3", "b4"]
    assert texts(windows.around("gone", 0, 1)) == ["c6"]


def test_new_lines_follow_the_end(folder: Path) -> None:
    windows = LogWindows(folder, EVERYTHING)
    end = windows.backwards(windows.ends, 1).end
    write(folder, "node-0-0.main.1", (6.5, "new node"))
    with (folder / "node-0-1.main.1.log").open("ab") as file:
        file.write(stamped(7, "whole") + b"2026-11-15T00:00:08")
    later = LogWindows(folder, EVERYTHING)
    window = later.forwards(later.offsets(Cursor.parse(end)), 10)
    assert texts(window) == ["new node", "whole"]


def test_a_long_line_is_shown_in_part_and_saved_in_full(folder: Path) -> None:
    write(folder, "node-0-0.main.2", (9, "x" * 10_000))
    (line,) = LogWindows(folder, LogSelection()).forwards({}, 5).lines
    assert (len(line.text), line.length) == (TEXT_LIMIT, 10_000)
    ((saved,),) = all_lines(folder, LogSelection())
    assert len(saved.text) == 10_000


@pytest.mark.parametrize("make", ["fifo", "link", "nothing"])
def test_what_is_no_log_file_is_left_out(folder: Path, make: str) -> None:
    path = folder / "node-0-9.main.0.log"
    if make == "fifo":
        os.mkfifo(path)
    elif make == "link":
        path.symlink_to("/etc/passwd")
    windows = LogWindows(folder, LogSelection(attempt=0))
    assert len(windows.forwards({}, 100).lines) == 6
    assert texts(windows.forwards({"node-0-0.main.0.log": 1 << 60}, 9)) == ["b1", "b2", "b4"]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 9), st.text("ab\r", max_size=4)), max_size=8),
        min_size=1,
        max_size=4,
    ),
    st.integers(1, 5),
)
def test_windows_have_every_line_once(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[tuple[int, str]]], count: int
) -> None:
    logs = tmp_path_factory.mktemp("job") / "logs"
    logs.mkdir()
    for rank, entries in enumerate(files):
        write(logs, f"node-0-{rank}.main.0", *sorted(entries, key=lambda entry: entry[0]))
    windows = LogWindows(logs, LogSelection())
    everything = texts(windows.forwards({}, 100))
    assert len(everything) == sum(map(len, files))
    forwards: list[str] = []
    window = windows.forwards({}, count)
    while window.lines:
        forwards += texts(window)
        window = windows.forwards(windows.offsets(Cursor.parse(window.end)), count)
    assert forwards == everything
    seen: list[str] = []
    window = windows.backwards(windows.ends, count)
    while window.lines:
        seen = texts(window) + seen
        window = windows.backwards(windows.offsets(Cursor.parse(window.start)), count)
    assert seen == everything
