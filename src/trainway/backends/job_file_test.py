import logging
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from trainway.backends import job_file
from trainway.backends.job_file import RefusedFileError

LIMIT = 100


@pytest.fixture
def job(tmp_path: Path) -> Path:
    (tmp_path / "job" / "output").mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("secret")
    return tmp_path / "job"


def listen(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


def folder_link(path: Path) -> None:
    path.parent.rmdir()
    path.parent.symlink_to(path.parents[2] / "folder")


@dataclass(frozen=True)
class Case:
    name: str
    make: Callable[[Path], object]
    why: str
    at: str = "output/file"


REFUSED = [
    Case("a link", lambda path: path.symlink_to("../../secret"), "a link"),
    Case("an absolute link", lambda path: path.symlink_to("/etc/passwd"), "a link"),
    Case("a link within", lambda path: path.symlink_to("other"), "a link"),
    Case("a link above it", folder_link, "a part of its path is a link"),
    Case("a pipe", os.mkfifo, "a pipe"),
    Case("a directory", Path.mkdir, "a directory"),
    Case("a socket", listen, "a socket"),
    Case("a file as folder", Path.touch, "a part of its path is a link", "output/file/inner"),
    Case("more than wanted", lambda path: path.write_bytes(b"x" * (LIMIT + 1)), "larger than"),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_what_is_no_file_of_the_job_is_not_read(case: Case, job: Path) -> None:
    case.make(job / "output" / "file")
    with pytest.raises(RefusedFileError) as caught:
        job_file.read(job, job / case.at, LIMIT)
    assert case.why in caught.value.why


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make a device")
def test_a_device_is_not_read(job: Path) -> None:
    path = job / "output" / "file"
    try:
        os.mknod(path, 0o020600, os.makedev(1, 5))  # /dev/zero
    except PermissionError:
        pytest.skip("this container may not make one")
    with pytest.raises(RefusedFileError, match="a device"):
        job_file.read(job, path, LIMIT)


def test_a_path_does_not_lead_out(job: Path) -> None:
    with pytest.raises(RefusedFileError, match="leads out"):
        job_file.read(job, job / "output" / ".." / ".." / "secret", LIMIT)
    with pytest.raises(ValueError, match="subpath"):
        job_file.read(job, job.parent / "secret", LIMIT)


def test_a_job_that_is_a_link_is_not_read(job: Path) -> None:
    (job.parent / "link").symlink_to("folder")
    with pytest.raises(OSError, match="Not a directory"):
        job_file.read(job.parent / "link", job.parent / "link" / "file", LIMIT)


def test_a_file_is_read_written_and_added_to(job: Path) -> None:
    path = job / "output" / "new" / "file"
    with pytest.raises(FileNotFoundError):
        job_file.read(job, path, LIMIT)
    assert job_file.size(job, path) == 0
    job_file.append(job, path, b"one")
    job_file.append(job, path, b"two")
    assert job_file.read(job, path, LIMIT) == b"onetwo"
    job_file.replace(job, path, b"three")
    assert job_file.read(job, path, 5) == b"three"
    assert job_file.size(job, path) == 5
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_nothing_is_written_through_a_link(job: Path) -> None:
    path = job / "output" / "file"
    path.symlink_to(job.parent / "secret")
    with pytest.raises(RefusedFileError):
        job_file.append(job, path, b"more")
    path.with_name(".file.new").symlink_to(job.parent / "secret")
    job_file.replace(job, path, b"own")
    assert path.read_text() == "own"
    assert (job.parent / "secret").read_text() == "secret"


def test_a_pipe_is_not_written_to(job: Path) -> None:
    os.mkfifo(job / "output" / "file")
    with pytest.raises(RefusedFileError):
        job_file.append(job, job / "output" / "file", b"x")


def test_a_file_that_shrinks_while_it_is_read_ends_sooner(job: Path) -> None:
    path = job / "output" / "file"
    path.write_bytes(b"x" * 50)
    assert job_file.read_at(job, path, 40, 10) == b"x" * 10
    path.write_bytes(b"")
    assert job_file.read_at(job, path, 40, 10) == b""
    path.unlink()
    assert job_file.read_at(job, path, 0, 10) == b""


def test_what_a_folder_has(job: Path) -> None:
    (job / "output" / "file").touch()
    (job / "output" / "link").symlink_to("file")
    os.mkfifo(job / "output" / "pipe")
    found = sorted(job_file.listing(job, job / "output"))
    assert found == [("file", True), ("link", False), ("pipe", False)]
    assert job_file.listing(job, job / "none") == []


def test_a_folder_that_is_a_link_has_nothing_and_that_is_said_once(
    job: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (job / "logs").symlink_to("../folder")
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert job_file.listing(job, job / "logs") == []
    (record,) = caplog.records
    assert f"{job}/logs is left out: a part of its path is a link or a file" in record.getMessage()
