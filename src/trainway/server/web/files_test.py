import gzip
import os
from pathlib import Path

import pytest

from trainway.server.web.files import INDEX, DashboardFiles

NAME = "assets/main-1a2b.js"
TEXT = b"let jobs = 1;\n" * 100


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "assets").mkdir()
    (tmp_path / NAME).write_bytes(TEXT)
    (tmp_path / INDEX).write_text("<title>Trainway</title>")
    return tmp_path


def test_what_the_build_compressed_is_sent_as_it_is(folder: Path) -> None:
    built = gzip.compress(TEXT, 1, mtime=7)
    (folder / f"{NAME}.gz").write_bytes(built)
    files = DashboardFiles(folder)
    found = files.find(NAME, gzipped=True)
    assert found is not None
    assert (found.content, found.encoding) == (built, "gzip")
    plain = files.find(NAME)
    assert plain is not None
    assert (plain.content, plain.encoding) == (TEXT, "")
    assert plain.tag != found.tag


def test_what_was_compressed_has_no_address_of_its_own(folder: Path) -> None:
    (folder / f"{NAME}.gz").write_bytes(gzip.compress(TEXT))
    assert DashboardFiles(folder).find(f"{NAME}.gz") is None


def test_what_is_built_anew_is_read_again(folder: Path) -> None:
    files = DashboardFiles(folder)
    first = files.find(INDEX)
    (folder / INDEX).write_text("<title>Another</title>")
    os.utime(folder / INDEX, ns=(1, 1))
    second = files.find("jobs")
    assert first is not None
    assert second is not None
    assert second.content == b"<title>Another</title>"
    assert first.tag != second.tag
    (folder / INDEX).unlink()
    assert files.find(INDEX) is None
    assert not files.is_built
