import random
from pathlib import Path

import pytest

from trainway.data.disk import DiskError
from trainway.data.journal import journal_path, partial_path
from trainway.data.store import ChangedError, Entry
from trainway.data.transfer import Options, Outcome, Wanted, fetch
from trainway.data.transfer_testing import MemoryStore
from trainway.errors import NotFoundError, TrainwayError, UnavailableError, UnreadableError

PART = 10
WORKERS = 3
CONTENT = random.Random(1).randbytes(995)  # noqa: S311 - content of a test
KEYS = ("a", "d/b")


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore(dict.fromkeys(KEYS, CONTENT))


def fetched(store: MemoryStore, folder: Path, keys: tuple[str, ...] = ("a",)) -> Outcome:
    wanted = []
    for key in keys:
        entry = store.stat(key)
        assert entry is not None
        wanted.append(Wanted(store, entry, f"s3://b/{key}", folder / key))
    return fetch(wanted, Options(workers=WORKERS, part_size=PART))


def files(folder: Path) -> dict[str, bytes]:
    found = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_files_arrive_whole_and_leave_no_trace(store: MemoryStore, tmp_path: Path) -> None:
    outcome = fetched(store, tmp_path, KEYS)

    assert files(tmp_path) == {"a": CONTENT, "d/b": CONTENT}
    assert outcome == Outcome(files=2, size=1990, fetched=1990)
    assert len(store.reads) == 200


def test_what_is_there_is_not_fetched_again(store: MemoryStore, tmp_path: Path) -> None:
    fetched(store, tmp_path)
    store.reads.clear()

    outcome = fetched(store, tmp_path)

    assert (outcome.present, outcome.fetched, store.reads) == (1, 0, [])


def test_a_newer_version_replaces_the_file(store: MemoryStore, tmp_path: Path) -> None:
    fetched(store, tmp_path)
    store.write("a", 3, [b"new"])

    fetched(store, tmp_path)

    assert files(tmp_path) == {"a": b"new"}


def test_a_version_of_the_same_size_and_second_replaces_the_file(
    store: MemoryStore, tmp_path: Path
) -> None:
    fetched(store, tmp_path)
    store.files["a"] = CONTENT[::-1]

    fetched(store, tmp_path)

    assert files(tmp_path) == {"a": CONTENT[::-1]}


def test_an_empty_file_arrives(store: MemoryStore, tmp_path: Path) -> None:
    store.files["a"] = b""

    fetched(store, tmp_path)

    assert files(tmp_path) == {"a": b""}


def test_after_a_failure_only_missing_parts_are_fetched(store: MemoryStore, tmp_path: Path) -> None:
    def fail(_key: str, start: int) -> None:
        if start == 700:
            raise TrainwayError("cut off")

    store.before_read = fail
    with pytest.raises(TrainwayError, match="cut off"):
        fetched(store, tmp_path)
    assert not (tmp_path / "a").exists()
    store.before_read = lambda _key, _start: None

    fetched(store, tmp_path)

    assert files(tmp_path) == {"a": CONTENT}
    assert len(store.reads) == len(set(store.reads)) == 100


def test_a_connection_that_ends_is_no_failure(
    store: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainway.data.transfer._PAUSES_S", (0.0, 0.0))
    failed: list[int] = []

    def fail(_key: str, start: int) -> None:
        if start == 700 and len(failed) < 2:
            failed.append(start)
            raise UnavailableError("cut off")

    store.before_read = fail

    fetched(store, tmp_path)

    assert files(tmp_path) == {"a": CONTENT}
    assert len(failed) == 2


@pytest.mark.parametrize("content", [CONTENT, bytes(995)], ids=["random", "zeros"])
def test_parts_that_are_damaged_are_fetched_again(
    store: MemoryStore, tmp_path: Path, content: bytes
) -> None:
    store.files["a"] = content
    interrupt(store, tmp_path)
    with partial_path(tmp_path / "a").open("r+b") as file:
        file.write(b"damaged")

    fetched(store, tmp_path)

    assert files(tmp_path) == {"a": content}


@pytest.mark.parametrize("text", [b"", b"\xff\n1 2\n", b"{}\n3 4\n"])
def test_a_journal_that_is_no_journal_counts_for_nothing(
    store: MemoryStore, tmp_path: Path, text: bytes
) -> None:
    interrupt(store, tmp_path)
    journal_path(tmp_path / "a").write_bytes(text)

    fetched(store, tmp_path)

    assert files(tmp_path) == {"a": CONTENT}


def test_a_torn_line_costs_one_part(store: MemoryStore, tmp_path: Path) -> None:
    interrupt(store, tmp_path)
    journal = journal_path(tmp_path / "a")
    journal.write_bytes(journal.read_bytes()[:-2])

    fetched(store, tmp_path)
    again = len(store.reads) - len(set(store.reads))

    assert files(tmp_path) == {"a": CONTENT}
    assert again == 1


def interrupt(store: MemoryStore, folder: Path) -> None:
    """Have a download fail in its middle."""

    def fail(_key: str, start: int) -> None:
        if start == 500:
            raise TrainwayError("cut off")

    store.before_read = fail
    with pytest.raises(TrainwayError, match="cut off"):
        fetched(store, folder)
    store.before_read = lambda _key, _start: None


def test_a_file_that_changes_meanwhile_is_begun_anew(store: MemoryStore, tmp_path: Path) -> None:
    def change(key: str, start: int) -> None:
        if start == 500:
            store.files[key] = b"x" * 995

    store.before_read = change

    outcome = fetched(store, tmp_path, KEYS)

    assert (outcome.files, outcome.size) == (2, 1990)
    assert files(tmp_path) == {"a": b"x" * 995, "d/b": b"x" * 995}


def test_a_file_that_never_stays_the_same_is_an_error(store: MemoryStore, tmp_path: Path) -> None:
    def change(key: str, start: int) -> None:
        if start == 500:
            store.files[key] = random.Random(len(store.reads)).randbytes(995)  # noqa: S311 - a test

    store.before_read = change

    with pytest.raises(ChangedError, match="again and again"):
        fetched(store, tmp_path)
    assert not (tmp_path / "a").exists()


def test_a_file_that_is_removed_meanwhile_is_an_error(store: MemoryStore, tmp_path: Path) -> None:
    store.before_read = lambda key, start: store.delete([key] if start == 500 else [])

    with pytest.raises(NotFoundError, match="was removed"):
        fetched(store, tmp_path)


def test_a_wrong_digest_is_noticed_and_nothing_of_it_stays(
    store: MemoryStore, tmp_path: Path
) -> None:
    entry = store.stat("a")
    assert entry is not None
    wrong = type(entry)(entry.key, entry.size, entry.etag, entry.modified, sha256="0" * 64)

    for _ in range(2):
        with pytest.raises(UnreadableError, match="checksum"):
            fetch([Wanted(store, wrong, "s3://b/a", tmp_path / "a")])
    assert not (tmp_path / "a").exists()
    assert len(store.reads) == 2


def test_zeros_stay_a_hole(store: MemoryStore, tmp_path: Path) -> None:
    store.files["a"] = bytes(3 << 20) + b"end"
    entry = store.stat("a")
    assert entry is not None

    fetch([Wanted(store, entry, "s3://b/a", tmp_path / "a")])

    assert (tmp_path / "a").read_bytes() == store.files["a"]
    assert (tmp_path / "a").stat().st_blocks * 512 < 1 << 20


def test_what_the_disk_cannot_hold_is_refused_before_it_is_fetched(
    store: MemoryStore, tmp_path: Path
) -> None:
    entry = store.stat("a")
    assert entry is not None
    huge = type(entry)(entry.key, 1 << 43, entry.etag, entry.modified)

    with pytest.raises(DiskError, match="has room for"):
        fetch([Wanted(store, huge, "s3://b/a", tmp_path / "a")], Options(part_size=1 << 40))
    assert store.reads == []


def test_what_an_attempt_left_does_not_count_as_room_that_is_missing(
    store: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = partial_path(tmp_path / "a")
    left.write_bytes(b"x" * (1 << 20))
    seen: list[int] = []

    def look(_folder: Path, _size: int) -> None:
        seen.append(left.stat().st_blocks)

    monkeypatch.setattr("trainway.data.download.require_room", look)
    fetched(store, tmp_path)
    assert seen == [0]


@pytest.mark.parametrize("size", [10**18, 10**30])
def test_a_size_that_nothing_has_takes_no_memory_and_leaves_no_trace(
    store: MemoryStore, tmp_path: Path, size: int
) -> None:
    with pytest.raises(DiskError, match="has room for"):
        fetch([Wanted(store, Entry("a", size, "1"), "s3://b/a", tmp_path / "a")])
    assert list(tmp_path.iterdir()) == []


def test_a_partial_file_that_is_a_link_is_not_written_through(
    store: MemoryStore, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    partial_path(tmp_path / "a").symlink_to(victim)

    with pytest.raises(UnreadableError, match="is a link"):
        fetched(store, tmp_path)
    assert victim.read_text() == "mine"


def test_a_target_that_is_a_folder_is_one_clear_error(store: MemoryStore, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "mine").touch()

    with pytest.raises(DiskError, match="cannot be written"):
        fetched(store, tmp_path)
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["mine"]


def test_every_part_goes_to_the_disk_when_it_is_here(
    store: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(
        "os.posix_fadvise", lambda _file, start, size, _advice: told.append((start, size))
    )

    fetched(store, tmp_path)

    assert len(told) == 100
    assert sum(size for _, size in told) == len(CONTENT)


def test_progress_ends_with_all_bytes(store: MemoryStore, tmp_path: Path) -> None:
    entry = store.stat("a")
    assert entry is not None
    told: list[tuple[int, int]] = []

    fetch(
        [Wanted(store, entry, "s3://b/a", tmp_path / "a")],
        Options(part_size=PART, progress=lambda done, size: told.append((done, size))),
    )

    assert told == sorted(told)
    assert told[-1] == (995, 995)
