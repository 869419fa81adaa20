import os
from itertools import count
from pathlib import Path

import pytest

from trainway.backends.logs.search import MOST_FOUND, SearchResult, search
from trainway.backends.logs.window import LogSelection
from trainway.backends.logs.window_test import stamped, write
from trainway.errors import UsageError

EVERYTHING = LogSelection(all_attempts=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    logs = tmp_path / "logs"
    logs.mkdir()
    write(logs, "node-0-0.main.0", (0, "Loss 1"), (1, "nothing"), (2, "loss loss 2"))
    write(logs, "node-0-1.main.0", (1, "all is lost"), (2, "LOSS 3"))
    return logs


def found(result: SearchResult) -> list[tuple[int, str]]:
    return [(match.file.rank, match.text.decode()) for match in result.matches]


def test_every_line_is_found_once_whatever_its_case(folder: Path) -> None:
    result = search(folder, EVERYTHING, "loss")
    assert found(result) == [(0, "Loss 1"), (0, "loss loss 2"), (1, "LOSS 3")]
    assert result.next is None
    assert result.searched == result.size > 0
    assert result.matches[1].time == "2026-11-15T00:00:02.000000Z"
    assert result.matches[1].offset == len(stamped(0, "Loss 1") + stamped(1, "nothing"))


def test_what_stands_before_each_line_is_not_searched(folder: Path) -> None:
    assert found(search(folder, EVERYTHING, "2026")) == []
    assert found(search(folder, EVERYTHING, "3")) == [(1, "LOSS 3")]


def test_a_search_that_takes_long_goes_on_where_it_stopped(folder: Path) -> None:
    ticks = count()
    seen, after, rounds = [], "", 0
    while True:
        result = search(folder, EVERYTHING, "loss", after, clock=lambda: float(next(ticks)))
        seen += found(result)
        rounds += 1
        if result.next is None:
            break
        assert result.searched <= result.size
        after = result.next
    assert seen == [(0, "Loss 1"), (0, "loss loss 2"), (1, "LOSS 3")]
    assert rounds > 2


def test_an_answer_is_bounded(folder: Path) -> None:
    write(folder, "node-0-2.main.0", *((n, f"{'x' * 500} needle {'y' * 500}") for n in range(500)))
    result = search(folder, EVERYTHING, "needle")
    assert len(result.matches) == MOST_FOUND
    assert max(len(match.text) for match in result.matches) <= 200
    assert all(b"needle" in match.text for match in result.matches)
    rest = search(folder, EVERYTHING, "needle", result.next or "")
    more = search(folder, EVERYTHING, "needle", rest.next or "")
    assert [len(rest.matches), len(more.matches), more.next] == [200, 100, None]


@pytest.mark.parametrize("after", ["x", ":1", "a:-1", "a:1x", "a:" + "9" * 30, "a:²"])
def test_nonsense_is_refused(folder: Path, after: str) -> None:
    with pytest.raises(UsageError, match="not a place"):
        search(folder, EVERYTHING, "a", after)


def test_a_file_without_lines_and_a_pipe_end_the_search(folder: Path) -> None:
    (folder / "node-0-3.main.0.log").write_bytes(b"needle" * 1_000_000)
    os.mkfifo(folder / "node-0-4.main.0.log")
    assert search(folder, EVERYTHING, "needle").next is None
