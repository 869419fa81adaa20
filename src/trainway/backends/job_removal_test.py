import os
import stat
from pathlib import Path

import pytest

from trainway.backends.job_removal import remove_tree


@pytest.fixture
def job(tmp_path: Path) -> Path:
    (tmp_path / "job" / "output").mkdir(parents=True)
    return tmp_path / "job"


def test_what_links_lead_to_stays_as_it_is(job: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o755)
    (elsewhere / "kept").write_text("kept")
    (job / "output" / "folder").symlink_to(elsewhere)
    (job / "output" / "file").symlink_to(elsewhere / "kept")
    (job / "output" / "nothing").symlink_to("nowhere")
    (job / "output" / "locked").mkdir(mode=0o000)
    remove_tree(job)
    assert not job.exists()
    assert (elsewhere / "kept").read_text() == "kept"
    assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o755


def test_what_is_written_meanwhile_goes_too(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rmdir, late = os.rmdir, [job / "first", job / "second"]

    def write_first(name: str, *, dir_fd: int | None = None) -> None:
        if late:
            late.pop().write_text("a last word")
        rmdir(name, dir_fd=dir_fd)

    monkeypatch.setattr(os, "rmdir", write_first)
    remove_tree(job)
    assert not job.exists()
    assert late == []


def test_a_job_that_is_a_link_loses_only_the_link(job: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(job)
    remove_tree(tmp_path / "link")
    assert not (tmp_path / "link").is_symlink()
    assert (job / "output").is_dir()


def test_pipes_and_read_only_folders_go_too(job: Path) -> None:
    os.mkfifo(job / "output" / "pipe")
    inner = job / "output" / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "file").touch()
    inner.chmod(0o500)
    inner.parent.chmod(0o500)
    remove_tree(job)
    assert not job.exists()
    remove_tree(job)


def test_what_is_nested_deeper_than_files_may_be_open_goes_too(job: Path) -> None:
    folder = os.open(job / "output", os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=folder)
        inner = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    remove_tree(job)
    assert not job.exists()
