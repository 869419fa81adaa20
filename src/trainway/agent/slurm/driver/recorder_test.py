"""Records of a pod, for two readers."""

from __future__ import annotations

import json
from itertools import zip_longest
from pathlib import Path

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.slurm.driver.recorder import Parts, last_record, parts_of, path_of


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


@pytest.mark.parametrize("length", [10, 1200, 100_000])
def test_a_record_is_put_together_from_what_was_sent(length: int) -> None:
    sent = {"uid": "u", "type": "event", "message": 'ä"' * (length // 2)}
    others = list(parts_of(b'{"uid":"v","message":"' + b"v" * 5000 + b'"}\n', "v"))
    lines = list(parts_of(json.dumps(sent).encode() + b"\n", "u"))
    assert all(len(line) <= 1024 for line in lines)
    parts = Parts()
    found = []
    for line in [line for pair in zip_longest(lines, others) for line in pair if line]:
        whole = parts.whole(json.loads(line))
        found += [whole] if whole is not None else []
    assert sent in found
    assert sorted(record["uid"] for record in found) == ["u", "v"]
