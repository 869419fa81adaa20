from dataclasses import dataclass

import pytest

from trainway.engine.checkpoint.manifest import (
    Files,
    complete,
    listed,
    manifest_text,
    read_manifest,
)
from trainway.errors import TrainwayError


@dataclass(frozen=True)
class Case:
    name: str
    before: Files
    now: Files
    ready: list[str]
    is_over: bool = False


OLD, NEW, GROWN = (10, 100), (10, 200), (20, 300)
CASES = (
    Case("what is new waits", {}, {"a": OLD}, []),
    Case("what is unchanged is ready", {"a": OLD}, {"a": OLD}, ["a"]),
    Case("newest first", {"a": OLD, "b": NEW}, {"a": OLD, "b": NEW}, ["b", "a"]),
    Case("what grows waits, others do not", {"a": OLD, "log": OLD},
         {"a": OLD, "log": GROWN}, ["a"]),
    Case("a folder is ready as a whole", {"c/1": OLD, "d/1": OLD},
         {"c/1": OLD, "c/2": NEW, "d/1": OLD}, ["d/1"]),
    Case("also deeper ones", {"c/x/1": OLD}, {"c/x/1": OLD, "c/y/2": NEW}, []),
    Case("what is gone is not ready", {"a": OLD}, {}, []),
    Case("at the end all of it is", {}, {"c/1": OLD, "c/2": NEW}, ["c/2", "c/1"], is_over=True),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_which_files_are_complete(case: Case) -> None:
    assert complete(case.before, case.now, is_over=case.is_over) == case.ready


def test_what_was_mirrored_stays_listed_while_it_is_there() -> None:
    assert listed({"b": OLD, "a": OLD, "gone": OLD}, {"a": GROWN, "b": OLD, "c": NEW}) == ["a", "b"]


def test_a_manifest_is_read_again() -> None:
    text = manifest_text(["a", "c/1"], "job", "2026-11-18T00:00:00Z")
    assert read_manifest(text, "s3://b/run") == ["a", "c/1"]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"version": 2, "files": []}', '{"version": 1, "files": [1]}',
     '{"version": 1, "files": ["../a"]}', '{"version": 1, "files": ["/a"]}',
     '{"version": 1, "files": ["a//b"]}', '{"version": 1, "files": ["a\\u0000"]}',
     '{"version": 1, "files": [""]}', '{"version": 1, "files": 7}', "[" * 5000],
    ids=lambda text: text[:40],
)  # fmt: skip
def test_no_other_text_is_a_manifest(text: str) -> None:
    with pytest.raises(TrainwayError, match="s3://b/run is not a manifest of checkpoints"):
        read_manifest(text.encode(), "s3://b/run")
