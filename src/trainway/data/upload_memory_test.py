"""What is remembered of an upload, where the file for that cannot be used."""

import errno
import os
from pathlib import Path

import pytest

from trainway.data.upload_memory import remembered


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "trainway" / "uploads"


def test_a_full_disk_here_is_no_reason_not_to_send(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with remembered("s3://b/a") as memory:
        assert memory is not None
        with monkeypatch.context() as patched:
            patched.setattr(os, "pwrite", full)
            memory.write("a", "upload")
        assert memory.read() == ("", "")
    assert not list(folder.iterdir()), "nothing is left of it"


@pytest.mark.parametrize(
    "content",
    [b"", b"[" * 60_000, b"\xff\xfe", b"[]", b"{}", b"\0" * 70_000],
    ids=["empty", "deep", "no text", "list", "map", "NUL"],
)
def test_what_is_not_ours_is_nothing(content: bytes, folder: Path) -> None:
    with remembered("s3://b/a") as memory:
        assert memory is not None
        memory.write("a", "upload")
    (path,) = folder.iterdir()
    path.write_bytes(content)
    with remembered("s3://b/a") as memory:
        assert memory is not None
        assert memory.read() == ("", "")


def test_an_upload_is_remembered_until_it_is_forgotten(folder: Path) -> None:
    with remembered("s3://b/a") as memory:
        assert memory is not None
        memory.write("a", "upload")
        with remembered("s3://b/a") as other:
            assert other is None, "somebody sends it"
    with remembered("s3://b/a") as memory:
        assert memory is not None
        assert memory.read() == ("a", "upload")
        memory.forget()
    assert not list(folder.iterdir())
