"""Records of a pod, for two readers."""

from __future__ import annotations

import json
from pathlib import Path

from trainway.agent.directory import Directory
from trainway.agent.slurm.recorder import last_record, path_of


def write(path: Path, *lines: str) -> Directory:
    (path / "pods").mkdir()
    (path / path_of("u")).write_text("".join(f"{line}\n" for line in lines))
    return Directory(str(path))


def record(phase: str) -> str:
    return json.dumps({"type": "pod", "phase": phase})


def test_a_pod_that_ended(tmp_path: Path) -> None:
    found = last_record(
        write(tmp_path, record("Running"), record("Succeeded"), '{"type":"event"}'), "u"
    )
    assert found == {"type": "pod", "phase": "Succeeded"}


def test_a_pod_that_ran_when_it_was_last_heard_of(tmp_path: Path) -> None:
    assert last_record(write(tmp_path, record("Running")), "u") is None


def test_a_line_that_was_cut_off(tmp_path: Path) -> None:
    assert last_record(write(tmp_path, record("Failed"), '{"type":"po'), "u") is not None


def test_a_pod_that_never_was(tmp_path: Path) -> None:
    assert last_record(Directory(str(tmp_path)), "u") is None
