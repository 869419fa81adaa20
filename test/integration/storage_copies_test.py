"""Copies of buckets as a shell makes them, with an rclone that does as it is told."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from trainway.api.task.storage_mount import Mode, StorageMount
from trainway.compiler.storage_script import copying


@dataclass(frozen=True)
class Case:
    """What rclone does, and how the step ends."""

    uri: str
    rclone: str
    status: int
    said: str = ""
    is_there: bool = True


CASES = {
    "a folder": Case("s3://bucket/train", 'mkdir "$dest"', 0),
    "a folder that is not there": Case(
        "s3://bucket/train", "true", 1, "storage: there is nothing at s3://bucket/train\n", False
    ),
    "a bucket without files": Case("s3://bucket", "true", 0),
    "a bucket without files, with a slash": Case("s3://bucket/", "true", 0),
    "a bucket that cannot be read": Case(
        "s3://bucket", "false", 1, "storage: rclone could not copy s3://bucket\n", False
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_copy_by_rclone_is_there_or_ends_the_task(case: Case, tmp_path: Path) -> None:
    programs, place = tmp_path / "bin", tmp_path / "content"
    programs.mkdir()
    _program(programs / "trainway", "exit 1")
    _program(programs / "rclone", f"for dest; do :; done; {case.rclone}")
    done = subprocess.run(
        ["/bin/sh", "-c", copying([(StorageMount("/data", case.uri, Mode.COPY), str(place))])],
        env={"PATH": f"{programs}:/usr/bin:/bin"},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (case.status, case.said)
    assert place.is_dir() is case.is_there


def _program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
