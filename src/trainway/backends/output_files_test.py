import os
from pathlib import Path

import pytest

from trainway.backends.output_files import MOST_ENTRIES, Kind, listed, opened_file
from trainway.errors import NotFoundError, UsageError


@pytest.fixture
def output(tmp_path: Path) -> Path:
    folder = tmp_path / "job" / "output"
    (folder / "checkpoints").mkdir(parents=True)
    (folder / "model.bin").write_bytes(b"12345")
    (folder / "checkpoints" / "step 1").write_text("one")
    (folder / "passwd").symlink_to("/etc/passwd")
    (folder / "away").symlink_to("/etc")
    os.mkfifo(folder / "pipe")
    (tmp_path / "job" / "secret").write_text("of the job")
    return folder


def test_a_directory_is_listed_with_what_can_be_opened(output: Path) -> None:
    found = listed(output, "")
    assert [(each.name, each.kind, each.size) for each in found.entries] == [
        ("checkpoints", Kind.FOLDER, 0),
        ("away", Kind.OTHER, 0),
        ("model.bin", Kind.FILE, 5),
        ("passwd", Kind.OTHER, 0),
        ("pipe", Kind.OTHER, 0),
    ]
    assert found.is_complete
    assert [each.name for each in listed(output, "checkpoints").entries] == ["step 1"]


def test_a_job_that_left_nothing_has_an_empty_output(tmp_path: Path) -> None:
    assert listed(tmp_path / "job" / "output", "").entries == []


def test_a_file_is_opened(output: Path) -> None:
    file, size = opened_file(output, "checkpoints/step 1")
    with file:
        assert (file.read(), size) == (b"one", 3)


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("../secret", UsageError),
        ("checkpoints/../../secret", UsageError),
        ("/etc/passwd", UsageError),
        ("a\0b", UsageError),
        ("", UsageError),
        (".", UsageError),
        ("passwd", NotFoundError),
        ("away/passwd", NotFoundError),
        ("pipe", NotFoundError),
        ("checkpoints", NotFoundError),
        ("none", NotFoundError),
        ("model.bin/none", NotFoundError),
    ],
)
def test_nothing_leads_out_of_the_output(output: Path, path: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        opened_file(output, path)


@pytest.mark.parametrize("path", ["..", "away", "none", "model.bin", "/"])
def test_only_directories_of_the_output_are_listed(output: Path, path: str) -> None:
    with pytest.raises((UsageError, NotFoundError)):
        listed(output, path)


def test_many_files_and_names_that_are_no_text(output: Path) -> None:
    folder = output / "many"
    folder.mkdir()
    for number in range(MOST_ENTRIES + 1):
        (folder / f"{number:05}").touch()
    found = listed(output, "many")
    assert (len(found.entries), found.is_complete) == (MOST_ENTRIES, False)
    assert found.entries[0].name == "00000"
    odd = output / "odd"
    odd.mkdir()
    (odd / os.fsdecode(b"\xff")).touch()
    (entry,) = listed(output, "odd").entries
    assert (entry.name, entry.kind) == ("\\xff", Kind.OTHER)
