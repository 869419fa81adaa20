import json
import os
from pathlib import Path

import pytest

from trainway.data import exporter
from trainway.data.exporter import checked_target, export, main
from trainway.data.transfer_testing import MemoryStore
from trainway.errors import NotFoundError, UnreadableError, UsageError


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> MemoryStore:
    made = MemoryStore()
    monkeypatch.setattr(exporter, "open_target", lambda _location: made)
    return made


def test_all_files_but_links_are_sent(store: MemoryStore, tmp_path: Path) -> None:
    output = tmp_path / "output"
    (output / "d").mkdir(parents=True)
    (output / "d" / "a").write_bytes(b"1")
    (output / ".a.partial").write_bytes(b"0")
    (tmp_path / "secret").write_bytes(b"s")
    (output / "link").symlink_to(tmp_path / "secret")

    outcome = export(output, "s3://b/run/")

    assert store.files == {"run/d/a": b"1"}
    assert (outcome.files, outcome.size) == (1, 1)


def test_a_folder_that_cannot_be_read_is_not_left_out_in_silence(
    store: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(b"1")
    scan = os.scandir

    def denied(path: str) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    (tmp_path / "closed").mkdir()
    monkeypatch.setattr(os, "scandir", denied)
    with pytest.raises(UnreadableError, match="closed cannot be read: Permission denied"):
        export(tmp_path, "s3://b")
    assert store.files == {}


def test_an_output_without_files_is_told(store: MemoryStore, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="the job left no output"):
        export(tmp_path, "s3://b")
    with pytest.raises(NotFoundError, match="the job left no output"):
        export(tmp_path / "none", "s3://b")
    assert store.files == {}


def test_how_it_went_is_told_as_json(
    store: MemoryStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path), "s3://b"]) == 1
    assert json.loads(capsys.readouterr().out)["final"] is True
    (tmp_path / "a").write_bytes(b"12")
    assert main([str(tmp_path), "s3://b"]) == 0
    assert json.loads(capsys.readouterr().out) == {"files": 1, "bytes": 2}
    assert store.files == {"a": b"12"}


@pytest.mark.parametrize("uri", ["file:///tmp/x", "hf://a/b", "https://h/x", "out", "s3://b/../c"])
def test_only_buckets_are_taken(uri: str) -> None:
    with pytest.raises(UsageError):
        checked_target(uri)
