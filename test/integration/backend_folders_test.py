"""Every backend folder has the same file for the same thing, as docs/architecture.md lists them."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import trainway
from trainway.families.builtin import BUILTIN

BACKENDS = Path(trainway.__file__).parent / "backends"
PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"
FOLDERS = {row.backend.split(".")[2] for row in BUILTIN.values()}
STANDARD = "| File | What it holds |"
OWN = "| Folder | Its own files |"


def rows(heading: str) -> Iterator[list[str]]:
    """The cells of the table that has this heading."""
    _, found, rest = PAGE.read_text().partition(f"{heading}\n")
    assert found, f"{PAGE.name} has no table {heading}"
    table, *_ = rest.split("\n\n")
    for line in table.splitlines()[1:]:
        yield [cell.strip() for cell in line.strip("|").split("|")]


def quoted(cell: str) -> set[str]:
    return {name.removesuffix(".py") for name in re.findall(r"`([^`]+)`", cell)}


STANDARD_FILES = {name for file, _ in rows(STANDARD) for name in quoted(file)}
OWN_FILES = {name: quoted(files) for folder, files in rows(OWN) for name in quoted(folder)}


def modules(folder: str) -> set[str]:
    stems = {path.stem for path in (BACKENDS / folder).glob("*.py")}
    return {stem for stem in stems if stem != "__init__" and not stem.endswith("_test")}


def test_the_list_names_every_backend() -> None:
    assert set(OWN_FILES) >= FOLDERS


@pytest.mark.parametrize("folder", sorted(OWN_FILES))
def test_a_folder_has_standard_files_and_those_that_are_listed_as_its_own(folder: str) -> None:
    assert modules(folder) - STANDARD_FILES == OWN_FILES[folder]
    assert "backend" in modules(folder)


def test_every_standard_file_is_one_that_a_backend_has() -> None:
    assert set().union(*map(modules, OWN_FILES)) >= STANDARD_FILES
