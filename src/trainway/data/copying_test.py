import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from trainway.data import copying, opening, removal
from trainway.data.copying import copy
from trainway.data.journal import partial_path
from trainway.data.listing import rows
from trainway.data.local_files import LocalFiles
from trainway.data.opening import locate
from trainway.data.patterns import Patterns
from trainway.data.removal import removable, remove
from trainway.data.selection import select
from trainway.data.transfer import Options
from trainway.data.transfer_testing import MemoryStore
from trainway.data.uri import Location
from trainway.errors import InvalidError, NotFoundError, UnreadableError, UsageError

FILES = {"train/a": b"1", "train/d/b": b"22", "train2/c": b"333", "train/marker/": b""}


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> MemoryStore:
    """A bucket that is all object stores there are; the current directory is empty."""
    made = MemoryStore(FILES)

    def open_source(location: Location) -> object:
        return opening.open_source(location) if location.scheme == "file" else made

    monkeypatch.setattr(copying, "open_source", open_source)
    monkeypatch.setattr(copying, "open_target", lambda _location: made)
    monkeypatch.setattr(removal, "open_target", lambda _location: made)
    monkeypatch.chdir(tmp_path)
    return made


def files() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@dataclass(frozen=True)
class Case:
    source: str
    target: str
    found: Mapping[str, bytes]
    patterns: Patterns = field(default_factory=Patterns)


@pytest.mark.parametrize(
    "case",
    [
        Case("s3://b/train", "out", {"out/a": b"1", "out/d/b": b"22"}),
        Case("s3://b/train/", "out/", {"out/a": b"1", "out/d/b": b"22"}),
        Case("s3://b/train/a", "out", {"out": b"1"}),
        Case("s3://b/train/a", "out/", {"out/a": b"1"}),
        Case("s3://b/train/a", ".", {"a": b"1"}),
        Case("s3://b/train", "out", {"out/d/b": b"22"}, Patterns(["d/"])),
        Case("s3://b/train", "out", {"out/a": b"1"}, Patterns(ignore=["*b"])),
    ],
    ids=str,
)
def test_files_go_where_the_target_says(store: MemoryStore, case: Case) -> None:
    copy(case.source, case.target, case.patterns)

    assert files() == case.found


@pytest.mark.parametrize(
    ("source", "target", "key"),
    [
        ("out", "s3://b/new", "new/d/x"),
        ("out", "s3://b", "d/x"),
        ("out/d/x", "s3://b/y", "y"),
        ("out/d/x", "s3://b/y/", "y/x"),
        ("./out/d/../d/x", "s3://b/", "x"),
    ],
)
def test_files_are_sent_where_the_target_says(
    store: MemoryStore, source: str, target: str, key: str
) -> None:
    Path("out/d").mkdir(parents=True)
    Path("out/d/x").write_bytes(b"new")
    partial_path(Path("out/half")).write_bytes(b"half of another download")

    outcome = copy(source, target)
    again = copy(source, target)

    assert {name: store.files[name] for name in store.files.keys() - FILES.keys()} == {key: b"new"}
    assert (outcome.files, outcome.fetched, again.fetched, again.present) == (1, 3, 0, 1)


def test_another_file_of_the_same_size_is_sent_even_if_it_is_older(store: MemoryStore) -> None:
    for name in ("new", "old"):
        Path(name).write_text(name)
    os.utime("old", (1, 1))

    copy("new", "s3://b/x")
    copy("old", "s3://b/x")

    assert store.files["x"] == b"old"


def test_a_file_that_changes_while_it_is_sent_is_sent_anew(store: MemoryStore) -> None:
    source = Path("x")
    source.write_bytes(b"a" * 100)

    def change(done: int, _size: int) -> None:
        if done == 50:
            source.write_bytes(b"b" * 120)
            os.utime(source, (1, 1))

    copy("x", "s3://b/x", options=Options(part_size=10, progress=change))

    assert store.files["x"] == b"b" * 120


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/x", "a//x", "a/./x", "a\0b"])
def test_a_name_that_leads_out_of_the_folder_is_refused(store: MemoryStore, name: str) -> None:
    store.files[f"train/{name}"] = b"evil"

    with pytest.raises(InvalidError, match="leads out of the folder"):
        copy("s3://b/train", "out")
    assert files() == {}


@pytest.mark.parametrize("name", [".a.partial", ".a.parts"])
def test_a_file_that_would_stand_where_another_is_copied_is_refused(
    store: MemoryStore, name: str
) -> None:
    store.files |= {"odd/a": b"1", f"odd/{name}": b"2"}
    with pytest.raises(InvalidError, match="is needed to copy another file"):
        copy("s3://b/odd", "here")


@pytest.mark.parametrize(
    ("path", "said"), [("~nobody-here/x", "no such user"), ("round/x", "leads back to itself")]
)
def test_a_path_that_leads_nowhere_is_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "round").symlink_to("other")
    (tmp_path / "other").symlink_to("round")
    with pytest.raises(UsageError, match=said):
        copy(path, "s3://b/x")


def test_files_that_cannot_be_looked_at_are_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").touch()
    with pytest.raises(UnreadableError, match="cannot be read"):
        copy(f"{tmp_path}/{'n' * 300}/", "s3://b/x")

    stat = Path.stat

    def denied(path: Path, **named: bool) -> os.stat_result:
        if path.name == "a":
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, **named)

    monkeypatch.setattr("trainway.data.local_files.Path.stat", denied)
    with pytest.raises(UnreadableError, match="a cannot be read: Permission denied"):
        list(LocalFiles().list(str(tmp_path)[1:]))


def test_a_file_that_is_a_folder_too_is_refused(store: MemoryStore) -> None:
    store.files["train/a/b"] = b""

    with pytest.raises(InvalidError, match="'a' is a file and a folder"):
        copy("s3://b/train", "out")


def test_a_folder_is_not_copied_onto_a_file(store: MemoryStore) -> None:
    Path("out").touch()

    with pytest.raises(UsageError, match="is a file"):
        copy("s3://b/train", "out")


@pytest.mark.parametrize("target", ["x", "./x"])
def test_nothing_is_copied_onto_itself(store: MemoryStore, target: str) -> None:
    Path("x").write_text("mine")

    with pytest.raises(UsageError, match="are the same"):
        copy("x", target)
    assert files() == {"x": b"mine"}


def test_what_is_not_there_is_told_and_what_is_ignored_is_no_error(store: MemoryStore) -> None:
    with pytest.raises(NotFoundError, match="there is nothing at s3://b/trai"):
        copy("s3://b/trai", "out")
    assert copy("s3://b/train", "out", Patterns(["*.json"])).files == 0


def test_a_bucket_without_files_is_said_to_be_empty(store: MemoryStore) -> None:
    store.files.clear()
    with pytest.raises(NotFoundError, match=r"^s3://b is empty$"):
        copy("s3://b", "out")


def test_only_what_is_below_the_folder_is_removed(store: MemoryStore) -> None:
    found = removable("s3://b/train", Patterns())
    remove(found)

    assert (len(found.keys), found.size) == (2, 3)
    assert store.files.keys() == {"train2/c", "train/marker/"}


def test_a_whole_bucket_is_not_removed(store: MemoryStore) -> None:
    with pytest.raises(UsageError, match="never emptied at once"):
        removable("s3://b/", Patterns())


def test_a_listing_has_folders_with_what_is_below_them(store: MemoryStore) -> None:
    found = select(store, locate("s3://b")).files

    assert [(row.name, row.size, row.files) for row in rows(found, is_recursive=False)] == [
        ("train/", 3, 2),
        ("train2/", 3, 1),
    ]
    assert [row.name for row in rows(found, is_recursive=True)] == [
        "train/a",
        "train/d/b",
        "train2/c",
    ]
