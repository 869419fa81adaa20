"""The files of a job, to a node and out again."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.base.launch import write_zip
from trainway.agent.transfer import parcel as module
from trainway.agent.transfer.job_place import opened
from trainway.agent.transfer.parcel import (
    QUIET_LOOKS,
    hold,
    pack,
    remove,
    remove_unused,
    untouched,
)

MOMENT_NS = 1_700_000_000_123_456_789


def job_in(path: Path) -> Path:
    job = path / "job"
    for folder in ("blobs", "logs", "output/checkpoints", "volumes/secret"):
        (job / folder).mkdir(parents=True)
    write_zip(job / "agent.pyz")
    for name in ("plan.json", "journal.jsonl", "wish", "slurm.json", "script.sbatch"):
        (job / name).write_text(name)
    model = job / "output/checkpoints/model"
    model.write_bytes(b"m" * 300_000)
    model.chmod(0o640)
    os.utime(model, ns=(MOMENT_NS, MOMENT_NS))
    (job / "output/latest").symlink_to("checkpoints/model")
    return job


def test_a_parcel_has_what_a_job_needs_and_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parcel, place = tmp_path / "trainway-7.0.x.pyz", tmp_path / "trainway-7.0"
    pack(str(job_in(tmp_path)), str(parcel))
    monkeypatch.setenv("TRAINWAY_AGENT", str(parcel))
    for _ in range(2):
        opened(str(place)).close()
    names = ["blobs", "journal.jsonl", "logs", "output", "plan.json", "unpacked.json", "wish"]
    assert sorted(path.name for path in place.iterdir()) == names
    model = place / "output/checkpoints/model"
    status = model.stat()
    assert (status.st_size, status.st_mtime_ns, status.st_mode & 0o777) == (
        300_000,
        MOMENT_NS,
        0o640,
    )
    assert (place / "output/latest").readlink() == Path("checkpoints/model")
    assert place.stat().st_mode & 0o777 == 0o700


def test_output_that_nobody_touched_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parcel, place = tmp_path / "trainway-7.0.x.pyz", tmp_path / "trainway-7.0"
    pack(str(job_in(tmp_path)), str(parcel))
    monkeypatch.setenv("TRAINWAY_AGENT", str(parcel))
    directory = opened(str(place))
    model = "output/checkpoints/model"
    assert untouched(directory).keys() == {model, "output/latest"}
    assert untouched(directory)[model] == (300_000, MOMENT_NS)
    (place / model).write_text("new")
    assert untouched(directory).keys() == {"output/latest"}


def test_what_is_removed_while_a_parcel_is_made_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, parcel, place = (
        job_in(tmp_path),
        tmp_path / "trainway-7.0.x.pyz",
        tmp_path / "trainway-7.0",
    )
    found = ["output", "output/gone", "plan.json"]
    monkeypatch.setattr(module, "_paths", lambda _job: iter(found))
    pack(str(job), str(parcel))
    monkeypatch.setenv("TRAINWAY_AGENT", str(parcel))
    opened(str(place)).close()
    assert (place / "plan.json").read_text() == "plan.json"
    assert list((place / "output").iterdir()) == []


def test_a_place_that_somebody_else_made_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, mine = tmp_path / "trainway-7.0", tmp_path / "mine"
    mine.mkdir()
    place.symlink_to(mine)
    monkeypatch.setenv("TRAINWAY_AGENT", f"{place}.x.pyz")
    with pytest.raises(PermissionError, match="another user"):
        opened(str(place))


def test_a_parcel_is_an_agent(tmp_path: Path) -> None:
    parcel = tmp_path / "x.pyz"
    pack(str(job_in(tmp_path)), str(parcel))
    words = [sys.executable, "-IS", str(parcel), "slurm", "pack"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "usage: slurm pack JOBDIR PARCEL\n")


def test_without_a_parcel_there_is_only_what_is_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        opened(str(tmp_path / "trainway-7.0"))


def test_what_lies_beside_a_job_goes_with_it(tmp_path: Path) -> None:
    for name in ("trainway-7.1.x.pyz", "trainway-7.1.sent", "trainway-7.out", "trainway-7.10.sent"):
        (tmp_path / name).touch()
    (tmp_path / "trainway-7.1").mkdir()
    remove(str(tmp_path / "trainway-7.1"))
    assert [path.name for path in tmp_path.iterdir()] == ["trainway-7.10.sent"]


def test_what_cannot_be_removed_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["trainway-7.1.a", "trainway-7.1.b", "trainway-7.out"]
    for name in names:
        (tmp_path / name).touch()
    unlink = os.unlink

    def refuse_one(path: str) -> None:
        if path.endswith(".a"):
            raise PermissionError(path)
        unlink(path)

    monkeypatch.setattr(os, "unlink", refuse_one)
    remove(str(tmp_path / "trainway-7.1"))
    assert [path.name for path in tmp_path.iterdir()] == ["trainway-7.1.a"]


def test_files_that_nobody_needs_for_a_while_are_removed(tmp_path: Path) -> None:
    place = tmp_path / "trainway-7.0"
    place.mkdir()
    directory, others = Directory(str(place)), list[Directory]()
    hold(directory)
    looks = 0

    def pause(_seconds: float) -> None:
        nonlocal looks
        looks += 1
        if looks == QUIET_LOOKS - 1:  # the link is made again, just in time
            others.append(Directory(str(place)))
            hold(others[0])
        elif looks == 2 * QUIET_LOOKS:
            assert place.exists()
            others.pop().close()

    remove_unused(directory, pause)
    assert not place.exists()
    assert looks == 3 * QUIET_LOOKS - 1


@dataclass(frozen=True)
class Case:
    name: str
    members: tuple[tuple[str, bytes], ...]


REFUSED = [
    Case("a path that leads up", (("../escaped", tarfile.REGTYPE),)),
    Case("an absolute path", (("/tmp/escaped", tarfile.REGTYPE),)),
    Case("a path through a link", (("output", tarfile.SYMTYPE), ("output/x", tarfile.REGTYPE))),
    Case("up from within", (("output", tarfile.DIRTYPE), ("output/..", tarfile.DIRTYPE))),
    Case("a pipe", (("pipe", tarfile.FIFOTYPE),)),
    Case("a device", (("zero", tarfile.CHRTYPE),)),
    Case("a hard link", (("link", tarfile.LNKTYPE),)),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_a_parcel_is_unpacked_only_below_its_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    parcel, place = tmp_path / "trainway-7.0.x.pyz", tmp_path / "trainway-7.0"
    with tarfile.open(parcel, "w") as archive:
        for name, kind in case.members:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, str(tmp_path)
            info.pax_headers = {"TRAINWAY.mtime_ns": "1"}
            archive.addfile(info)
    monkeypatch.setenv("TRAINWAY_AGENT", str(parcel))
    with pytest.raises(OSError, match="does not belong there"):
        opened(str(place))
    assert [path.name for path in tmp_path.iterdir()] == [parcel.name]


def test_what_a_job_leaves_beside_files_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, parcel = job_in(tmp_path), tmp_path / "trainway-7.0.x.pyz"
    os.mkfifo(job / "output" / "pipe")
    pack(str(job), str(parcel))
    monkeypatch.setenv("TRAINWAY_AGENT", str(parcel))
    opened(str(tmp_path / "trainway-7.0")).close()
    names = sorted(path.name for path in (tmp_path / "trainway-7.0" / "output").iterdir())
    assert names == ["checkpoints", "latest"]
