"""Output of another host, put where a job may have links of its own."""

from __future__ import annotations

import os
from base64 import b64encode
from pathlib import Path

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.transfer.restored import PART, RestoredError, restore
from trainway.json_types import Json

MOMENT_NS = 1_700_000_000_123_456_789


def frame(path: str, data: bytes, offset: int = 0, *, last: bool = True) -> Json:
    text = b64encode(data).decode()
    return {
        "path": path,
        "data": text,
        "offset": offset,
        "last": last,
        "mode": 0o640,
        "mtime_ns": MOMENT_NS,
    }


@pytest.fixture
def job(tmp_path: Path) -> Path:
    (tmp_path / "job" / "output").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "kept").write_text("kept")
    return tmp_path / "job"


def test_a_file_is_there_when_its_last_piece_has_come(job: Path) -> None:
    directory = Directory(str(job))
    path = job / "output" / "a" / "b"
    assert restore(directory, frame("output/a/b", b"one", last=False)) is None
    assert not path.exists()
    assert restore(directory, frame("output/a/b", b"two", 3)) == (6, MOMENT_NS)
    assert path.read_text() == "onetwo"
    assert (path.stat().st_mode & 0o777, path.stat().st_mtime_ns) == (0o640, MOMENT_NS)
    assert restore(directory, {"path": "output/link", "link": "a/b"}) is not None
    assert (job / "output" / "link").read_text() == "onetwo"
    directory.close()


def test_a_folder_that_is_a_link_is_not_followed(job: Path) -> None:
    (job / "output" / "a").symlink_to(job.parent / "elsewhere")
    directory = Directory(str(job))
    with pytest.raises(OSError, match="Not a directory"):
        restore(directory, frame("output/a/kept", b"other"))
    directory.close()
    assert [path.name for path in (job.parent / "elsewhere").iterdir()] == ["kept"]


def test_neither_a_link_nor_a_pipe_takes_what_is_for_a_file(job: Path) -> None:
    kept = job.parent / "elsewhere" / "kept"
    (job / "output" / f"a{PART}").symlink_to(kept)
    (job / "output" / "a").symlink_to(kept)
    os.mkfifo(job / "output" / f"b{PART}")
    directory = Directory(str(job))
    for name in ("a", "b"):
        assert restore(directory, frame(f"output/{name}", b"own")) == (3, MOMENT_NS)
        assert (job / "output" / name).read_text() == "own"
    directory.close()
    assert kept.read_text() == "kept"


@pytest.mark.parametrize("path", ["output", "plan.json", "output/../x", "/output/x", "output//x"])
def test_only_output_is_restored(job: Path, path: str) -> None:
    directory = Directory(str(job))
    with pytest.raises(RestoredError):
        restore(directory, frame(path, b"x"))
    directory.close()
