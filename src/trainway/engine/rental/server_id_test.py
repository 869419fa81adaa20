"""The id of a server stays the same, and a broken one is never replaced."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from trainway.engine.rental.server_id import FILE, server_id
from trainway.errors import UnavailableError, UnreadableError


def test_an_id_is_made_once(tmp_path: Path) -> None:
    first = server_id(tmp_path)

    assert len(first) == 20
    assert server_id(tmp_path) == first
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_all_who_ask_at_once_get_the_same_id(tmp_path: Path) -> None:
    start = threading.Barrier(16)

    def ask(_: int) -> str:
        start.wait()
        return server_id(tmp_path)

    with ThreadPoolExecutor(16) as threads:
        assert len(set(threads.map(ask, range(16)))) == 1
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_a_broken_id_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("")

    with pytest.raises(UnreadableError, match="not the id of a server"):
        server_id(tmp_path)


def test_a_home_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="No such file"):
        server_id(tmp_path / "missing")
