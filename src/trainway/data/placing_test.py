import os
import threading
from pathlib import Path

import pytest

from trainway.data import file_lock
from trainway.data.journal import journal_path, partial_path
from trainway.data.placing import place


def test_what_another_copy_brings_to_the_same_place_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = tmp_path / "content", tmp_path / "out" / "a"
    source.write_bytes(b"whole")
    target.parent.mkdir()
    partial_path(target).write_bytes(b"half")
    other, take, asked = file_lock.take(journal_path(target)), file_lock.take, threading.Event()
    assert other is not None

    def asking(path: Path) -> int | None:
        asked.set()
        return take(path)

    monkeypatch.setattr(file_lock, "take", asking)
    words = {"may_link": True}
    mine = threading.Thread(target=place, args=(source, target, ""), kwargs=words, daemon=True)
    mine.start()
    assert asked.wait(30)
    assert partial_path(target).read_bytes() == b"half"
    partial_path(target).unlink()
    os.close(other)
    mine.join()

    assert [path.name for path in target.parent.iterdir()] == ["a"]
    assert target.read_bytes() == b"whole"
