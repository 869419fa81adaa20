import os
from pathlib import Path

import pytest

from trainway.agent.kubelet.health import disk
from trainway.agent.kubelet.health.disk import disk_problem


def test_a_sound_disk_has_no_problem_and_nothing_is_left(tmp_path: Path) -> None:
    assert disk_problem(str(tmp_path)) == ""
    assert list(tmp_path.iterdir()) == []


def test_what_is_wrong_with_a_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    assert disk_problem(str(gone)) == f"{gone} cannot be written to: No such file or directory"
    monkeypatch.setattr(disk, "_free", lambda _path: 5 * 1024 * 1024)
    assert disk_problem(str(tmp_path)) == f"the disk of {tmp_path} is full: 5 MiB are free"
    monkeypatch.undo()
    monkeypatch.setattr(disk, "SLOWEST", -1.0)
    assert "s for 1 MiB" in disk_problem(str(tmp_path))


def test_a_disk_that_runs_full_meanwhile_or_gives_back_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    assert disk_problem(str(tmp_path)) == f"the disk of {tmp_path} is full"
    monkeypatch.undo()
    monkeypatch.setattr(os, "pread", lambda *_: b"something else")
    assert "gives back something else" in disk_problem(str(tmp_path))
    assert list(tmp_path.iterdir()) == []
