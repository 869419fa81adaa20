"""`trainway data` on files of this machine and a pretended hub; buckets are in test/e2e."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from trainway.cli.app import app
from trainway.data import removal
from trainway.data.hub_testing import NAME, PretendedHub, served
from trainway.data.transfer_testing import MemoryStore

FILES = {"config.json": b"{}", "d/weights.bin": b"x" * 2000}


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[PretendedHub]:
    with served(PretendedHub(FILES)) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        monkeypatch.setenv("HF_HOME", str(tmp_path / "no-token"))
        monkeypatch.chdir(tmp_path)
        yield hub


def invoke(*words: str) -> Result:
    return CliRunner().invoke(app, ["data", *words])


def test_a_model_is_copied_listed_and_measured(hub: PretendedHub) -> None:
    copied = invoke("copy", f"hf://{NAME}", "model")
    again = invoke("copy", f"hf://{NAME}", "model", "-o", "json")
    listed = invoke("ls", f"hf://{NAME}")
    measured = invoke("du", "model")

    assert copied.output == "2 files, 2.0 kB\n"
    assert json.loads(again.output) == {
        "files": 2, "bytes": 2002, "transferredBytes": 0, "unchangedFiles": 2,
    }  # fmt: skip
    assert Path("model/d/weights.bin").read_bytes() == FILES["d/weights.bin"]
    assert listed.output == (
        "SIZE     MODIFIED  NAME\n2 bytes  -         config.json\n2.0 kB   -         d/\n"
    )
    assert measured.output == "2.0 kB in 2 files\n"


def test_with_a_cache_a_second_copy_fetches_nothing(
    hub: PretendedHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TRAINWAY_DATA_CACHE", str(tmp_path / "cache"))
    for target in ("one", "two"):
        copied = invoke("copy", f"hf://{NAME}", target, "--cached", "-o", "json")
        hub.ranges, ranges = [], hub.ranges
        Path(target, "config.json").write_text("it is a copy")  # and the cache stays as it is

    assert (json.loads(copied.output)["transferredBytes"], ranges) == (0, [])
    assert Path("two/d/weights.bin").read_bytes() == FILES["d/weights.bin"]


def test_a_listing_can_be_read_by_programs(hub: PretendedHub) -> None:
    found = json.loads(
        invoke("ls", "-r", f"hf://{NAME}", "--include", "*.bin", "-o", "json").output
    )

    assert [(row["name"], row["bytes"], row["files"]) for row in found] == [
        ("d/weights.bin", 2000, 1)
    ]
    assert invoke("ls", "-r", f"hf://{NAME}", "-o", "name").output == "config.json\nd/weights.bin\n"


@pytest.mark.parametrize(
    ("words", "said", "status"),
    [
        (("copy", "s3:///a", "out"), "the bucket has no name", 2),
        (("copy", "nowhere", "out"), "there is nothing at file:///", 3),
        (("copy", "s3:/b/x", "out"), "did you mean s3://b/x?", 2),
        (("copy", ".", "s3//b/x"), "did you mean s3://b/x?", 2),
        (("ls", "hf:org/name/x"), "did you mean hf://org/name/x?", 2),
        (("copy", f"hf://{NAME}/../x", "out"), '".."', 2),
        (("copy", ".", f"hf://{NAME}"), "hf:// can only be read", 2),
        (("ls", "hf://org/other"), "there is nothing at hf://org/other", 3),
        (("rm", "-y", "out"), "is on this machine", 2),
        (("rm", "-y", f"hf://{NAME}"), "hf:// can only be read", 2),
    ],
)
def test_what_cannot_be_done_is_one_line(
    hub: PretendedHub, words: tuple[str, ...], said: str, status: int
) -> None:
    done = invoke(*words)

    assert done.exit_code == status
    assert said in done.output
    assert done.output.startswith("error: ")


def test_rm_asks_and_without_a_terminal_wants_y(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore({"run/a": b"1", "run/b": b"2", "running": b"3"})
    monkeypatch.setattr(removal, "open_target", lambda _location: store)

    refused = invoke("rm", "s3://bucket/run")
    assert refused.exit_code == 2
    assert "use -y" in refused.output
    assert len(store.files) == 3

    done = invoke("rm", "s3://bucket/run", "-y")
    assert done.output == "2 files removed, 2 bytes\n"
    assert list(store.files) == ["running"]


def test_a_name_cannot_steer_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "a\x1b[31mb").touch()

    assert "a?[31mb" in invoke("ls", str(tmp_path)).output


def test_names_that_are_no_text_are_listed_as_they_are(tmp_path: Path) -> None:
    """On a disk a name is bytes; scripts get these, and people and JSON something readable."""
    (tmp_path / os.fsdecode(b"a\xff")).touch()
    assert invoke("ls", str(tmp_path), "-o", "name").stdout_bytes == b"a\xff\n"
    (row,) = json.loads(invoke("ls", str(tmp_path), "-o", "json").output)
    assert row["name"] == "a\N{REPLACEMENT CHARACTER}"
    assert "a?" in invoke("ls", str(tmp_path)).output


def test_exclude_is_another_word_for_ignore(hub: PretendedHub) -> None:
    assert invoke("ls", f"hf://{NAME}", "--exclude", "d/", "-o", "name").output == "config.json\n"
