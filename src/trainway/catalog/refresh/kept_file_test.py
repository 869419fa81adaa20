"""Files that somebody has edited are never overwritten."""

import gzip
from pathlib import Path

import pytest

from trainway.catalog.refresh import kept_file
from trainway.catalog.refresh.kept_file import State, keep, notes, state
from trainway.catalog.refresh.source_file import text_of
from trainway.errors import ConflictError, UnreadableError, UsageError

HEADER = "InstanceType,vCPUs,MemoryGiB,Price,Region\n"
ONE, TWO = HEADER + "a,1,1,1,r\n", HEADER + "a,1,1,2,r\nb,1,1,2,r\n"


def test_a_file_is_replaced_until_somebody_edits_it(tmp_path: Path) -> None:
    folder = tmp_path / "catalog"
    assert state(folder, "aws") is State.ABSENT
    assert keep(folder, "aws", ONE, "first", "t1") == 1
    assert state(folder, "aws") is State.FETCHED
    assert keep(folder, "aws", TWO, "second", "t2") == 2
    assert (folder / "aws.csv").read_text() == TWO
    assert notes(folder)["aws"].source == "second"
    (folder / "aws.csv").write_text(ONE + "mine,1,1,1,r\n")
    assert state(folder, "aws") is State.EDITED
    with pytest.raises(ConflictError, match="was edited"):
        keep(folder, "aws", TWO, "third", "t3")
    assert "mine" in (folder / "aws.csv").read_text()
    (folder / "gcp.csv.gz").write_bytes(gzip.compress(ONE.encode()))
    assert state(folder, "gcp") is State.EDITED


def test_nothing_is_lost_when_what_comes_is_wrong(tmp_path: Path) -> None:
    keep(tmp_path, "aws", ONE, "first", "t1")
    for wrong in (HEADER, "no catalog\n", HEADER + "a,b,c,d\n"):
        with pytest.raises(UnreadableError):
            keep(tmp_path, "aws", wrong, "second", "t2")
    assert (tmp_path / "aws.csv").read_text() == ONE
    assert state(tmp_path, "aws") is State.FETCHED


def test_a_kill_before_the_file_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(tmp_path, "aws", ONE, "first", "t1")
    write = kept_file._write

    def killed(path: Path, text: str) -> None:
        if path.name == "aws.csv":
            raise KeyboardInterrupt
        write(path, text)

    monkeypatch.setattr(kept_file, "_write", killed)
    with pytest.raises(KeyboardInterrupt):
        keep(tmp_path, "aws", TWO, "second", "t2")
    monkeypatch.undo()
    assert (tmp_path / "aws.csv").read_text() == ONE
    assert keep(tmp_path, "aws", TWO, "third", "t3") == 2
    (tmp_path / ".fetched.json").write_text("nonsense")
    assert state(tmp_path, "aws") is State.EDITED


def test_sources(tmp_path: Path) -> None:
    packed = tmp_path / "aws.csv.gz"
    packed.write_bytes(gzip.compress(ONE.encode()))
    assert text_of(packed) == ONE
    packed.write_bytes(b"\x1f\x8bnonsense")
    for wrong in (packed, tmp_path / "none.csv"):
        with pytest.raises(UnreadableError):
            text_of(wrong)
    for address in ("http://example.org/a.csv", "file:///etc/passwd"):
        with pytest.raises(UsageError, match="is not an https:// address"):
            text_of(address)
