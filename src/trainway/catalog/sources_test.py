import gzip
from pathlib import Path

import pytest

from trainway.catalog.sources import VARIABLE, catalog_files, open_catalog
from trainway.errors import UnavailableError, UnreadableError

TEXT = "InstanceType,vCPUs,MemoryGiB,Price,Region\na,4,16,{price},here\n"


def folder(path: Path, price: float = 1) -> Path:
    path.mkdir(exist_ok=True)
    (path / "aws.csv").write_text(TEXT.format(price=price))
    return path


def prices(tmp_path: Path, named: Path | None) -> list[tuple[str, float]]:
    environment = {} if named is None else {VARIABLE: str(named)}
    catalog = open_catalog(tmp_path / "home", tmp_path / "cache", environment)
    found = catalog.rows("SELECT cloud, price FROM machines WHERE name = 'a'")
    catalog.close()
    return [(cloud, price) for cloud, price in found]


def test_a_changed_file_is_read_again_and_never_written(tmp_path: Path) -> None:
    named = folder(tmp_path / "files")
    assert prices(tmp_path, named) == [("aws", 1)]
    before = (named / "aws.csv").stat()
    assert prices(tmp_path, named) == [("aws", 1)]
    assert (named / "aws.csv").stat() == before
    folder(named, 22)
    assert prices(tmp_path, named) == [("aws", 22)]


def test_files_of_the_home_come_before_our_own_list(tmp_path: Path) -> None:
    catalog = open_catalog(tmp_path / "home", tmp_path / "cache", {})
    own = catalog.clouds()
    assert {"aws", "azure", "gcp", "lambda"} <= set(own)
    assert "H100" in catalog.accelerators()
    (tmp_path / "home").mkdir()
    folder(tmp_path / "home" / "catalog")
    catalog = open_catalog(tmp_path / "home", tmp_path / "cache", {})
    assert catalog.clouds() == own
    assert catalog.rows("SELECT name FROM machines WHERE cloud = 'aws'") == [("a",)]


def test_a_packed_file_counts_where_there_is_no_other(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "GCP.csv.gz", "wt") as file:
        file.write(TEXT.format(price=2))
    folder(tmp_path)
    with gzip.open(tmp_path / "aws.csv.gz", "wt") as file:
        file.write(TEXT.format(price=3))
    assert [path.name for path in catalog_files(tmp_path).values()] == ["aws.csv", "GCP.csv.gz"]
    assert prices(tmp_path, tmp_path) == [("aws", 1), ("gcp", 2)]


def test_a_file_that_an_editor_has_saved_is_read(tmp_path: Path) -> None:
    named = folder(tmp_path / "files")
    text = "\ufeff" + TEXT.format(price=4).replace("\n", "\r\n") + "\r\n"
    (named / "aws.csv").write_bytes(text.encode())
    assert prices(tmp_path, named) == [("aws", 4)]


@pytest.mark.parametrize("target", ["nowhere", "/dev/zero", "."])
def test_a_link_that_leads_to_no_file_is_named(tmp_path: Path, target: str) -> None:
    named = folder(tmp_path / "files")
    (named / "gcp.csv").symlink_to(target)
    with pytest.raises(UnreadableError, match=r"gcp\.csv is not a file, or is a link to nothing"):
        prices(tmp_path, named)


def test_a_file_that_cannot_be_read_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    named = folder(tmp_path / "files")
    (named / "gcp.csv.gz").write_bytes(b"\x1f\x8b no gzip")
    with pytest.raises(UnreadableError, match=r"gcp\.csv\.gz cannot be read"):
        prices(tmp_path, named)
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.parametrize("name", ["missing", "."])
def test_a_folder_without_files_is_said(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnreadableError, match="TRAINWAY_CATALOG") as error:
        prices(tmp_path, tmp_path / name)
    assert error.value.hint


def test_what_was_compiled_long_ago_is_forgotten(tmp_path: Path) -> None:
    for price in range(1, 8):
        prices(tmp_path, folder(tmp_path / f"files{price}", price))
    assert len(list((tmp_path / "cache").iterdir())) <= 5


def test_a_damaged_compiled_catalog_is_made_anew(tmp_path: Path) -> None:
    named = folder(tmp_path / "files")
    prices(tmp_path, named)
    (compiled,) = (tmp_path / "cache").iterdir()
    compiled.write_bytes(b"no database, and long enough to be looked at" * 100)
    assert prices(tmp_path, named) == [("aws", 1)]


def test_a_cache_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(UnavailableError, match="cannot be compiled into") as error:
        prices(tmp_path, folder(tmp_path / "files"))
    assert "XDG_CACHE_HOME" in str(error.value.hint)
