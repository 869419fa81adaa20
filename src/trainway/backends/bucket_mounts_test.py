"""Places that cannot mount buckets say so."""

import json
from pathlib import Path

import pytest

from trainway.backends import bucket_mounts
from trainway.backends.pool.mounting_hosts import lacking_words
from trainway.jobset.labels import ISOLATION, TASK_MOUNTS
from trainway.json_types import Json


def jobset(**annotations: str) -> Json:
    mounts = {TASK_MOUNTS: json.dumps({"node": ["/a", "/b"]})}
    return {"metadata": {"annotations": {**mounts, **annotations}}}


def test_each_path_is_named() -> None:
    assert bucket_mounts.refusal(jobset(), "no") == ["file_mounts[/a]: no", "file_mounts[/b]: no"]
    assert bucket_mounts.refusal(jobset(), "") == []
    assert bucket_mounts.refusal({"metadata": {}}, "no") == []


def test_a_broken_annotation_mounts_nothing() -> None:
    for text in ("{", "[]", '{"a": "b"}', "[" * 5000):
        assert bucket_mounts.paths({"metadata": {"annotations": {TASK_MOUNTS: text}}}) == []


def test_containers_cannot_mount() -> None:
    (first, _) = bucket_mounts.in_containers(jobset(**{ISOLATION: "container"}))
    assert first == "file_mounts[/a]: buckets cannot be mounted in containers; use mode: COPY"


def test_this_machine_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bucket_mounts, "_USUAL", str(tmp_path))
    (first, _) = bucket_mounts.here(jobset(), {"PATH": ""})
    assert first.startswith("file_mounts[/a]: rclone is not installed, ")
    assert first.endswith("on this machine; install rclone and fuse3 there, or use mode: COPY")
    assert bucket_mounts.here({"metadata": {}}, {"PATH": ""}) == []


def test_hosts_are_named_by_what_they_lack() -> None:
    words = lacking_words(["a", "b", "c"], [["x is missing"], [], ["x is missing", "no y"]])
    assert words == (
        "x is missing on a, c; no y on c; install rclone and fuse3 there, or use mode: COPY"
    )
    assert lacking_words(["a"], [[]]) == ""
