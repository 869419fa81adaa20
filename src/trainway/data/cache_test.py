import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from trainway.data.cache import Cache, Lease, identity, parse_size
from trainway.data.disk import DiskError
from trainway.data.store import Entry
from trainway.data.transfer import Options, Outcome, Wanted
from trainway.data.transfer_testing import MemoryStore
from trainway.errors import ConflictError, TrainwayError, UsageError

SMALL = Options(workers=2, part_size=10)


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore({name: name.encode() * 100 for name in "abcd"})


def lease(cache: Cache, store: MemoryStore, key: str) -> tuple[Lease, Outcome]:
    entry = store.stat(key)
    assert entry is not None
    return cache.lease(Wanted(store, entry, f"s3://b/{key}", Path("unused")), SMALL)


def use(cache: Cache, store: MemoryStore, key: str) -> None:
    lease(cache, store, key)[0].close()


def is_here(cache: Cache, store: MemoryStore, key: str) -> bool:
    """Whether a content is in the cache, by whether it would be fetched."""
    entry = store.stat(key)
    assert entry is not None
    return (cache._folder / identity(f"s3://b/{key}", entry) / "content").exists()


def test_what_was_fetched_is_not_fetched_again(store: MemoryStore, tmp_path: Path) -> None:
    use(Cache(tmp_path), store, "a")
    store.reads.clear()

    found, outcome = lease(Cache(tmp_path), store, "a")

    assert found.path.read_bytes() == store.files["a"]
    assert (outcome.fetched, outcome.present, store.reads) == (0, 1, [])
    assert not found.path.stat().st_mode & 0o222


def test_another_version_is_another_content(store: MemoryStore, tmp_path: Path) -> None:
    use(Cache(tmp_path), store, "a")
    store.files["a"] = b"new"

    assert lease(Cache(tmp_path), store, "a")[0].path.read_bytes() == b"new"


def test_what_has_no_version_is_fetched_each_time(
    store: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = Entry("a", 100, "")
    monkeypatch.setattr(store, "_entry", lambda _key: entry)
    wanted = Wanted(store, entry, "https://h/a", Path("unused"))
    Cache(tmp_path).lease(wanted, SMALL)[0].close()
    store.files["a"] = b"z" * 100

    found, _ = Cache(tmp_path).lease(wanted, SMALL)

    assert found.path.read_bytes() == b"z" * 100


def test_the_least_recently_used_goes_first(store: MemoryStore, tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=300)
    for second, key in enumerate("abca"):
        use(cache, store, key)
        entry = store.stat(key)
        assert entry is not None
        os.utime(tmp_path / f"{identity(f's3://b/{key}', entry)}.lock", (second, second))

    use(cache, store, "d")

    assert [key for key in "abcd" if is_here(cache, store, key)] == ["a", "c", "d"]
    assert cache.size() == 300


def test_what_a_live_job_uses_is_never_removed(store: MemoryStore, tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=200)
    held, _ = lease(cache, store, "a")
    command = [sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[held.handle]
    ) as job:
        assert job.stdout is not None
        job.stdout.readline()
        held.close()  # the job still has it
        for key in "bcd":
            use(cache, store, key)
        assert is_here(cache, store, "a")
        other, _ = lease(cache, store, "b")
        with pytest.raises(ConflictError, match="live jobs use 200 bytes of the cache"):
            lease(cache, store, "c")
        other.close()
        job.kill()
    for key in "cd":
        use(cache, store, key)

    assert not is_here(cache, store, "a")


@pytest.mark.parametrize(
    "name",
    ["thesis", "sha256", f"sha256-{'A' * 64}", f"seen-{'0' * 64}.old", f"my-seen-{'0' * 64}"],
)
def test_what_others_have_in_the_folder_stays_and_does_not_count(
    name: str, store: MemoryStore, tmp_path: Path
) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "chapter").write_bytes(b"x" * 1000)
    cache = Cache(tmp_path, limit=150)

    for key in "ab":
        use(cache, store, key)
    assert cache.size() == 100
    cache.prune(150)

    assert not any(is_here(cache, store, key) for key in "ab")
    assert (tmp_path / name / "chapter").read_bytes() == b"x" * 1000


def test_a_link_with_the_name_of_an_entry_is_none(store: MemoryStore, tmp_path: Path) -> None:
    folder, cache = tmp_path / "cache", Cache(tmp_path / "cache", limit=150)
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter").write_bytes(b"x" * 1000)
    (folder / f"seen-{'0' * 64}").symlink_to(tmp_path / "thesis")

    use(cache, store, "a")
    cache.prune(150)

    assert cache.size() == 0
    assert (folder / f"seen-{'0' * 64}" / "chapter").exists()


def test_two_who_want_the_same_wait_for_one_download(store: MemoryStore, tmp_path: Path) -> None:
    begun, may_end = threading.Event(), threading.Event()

    def wait(_key: str, _start: int) -> None:
        begun.set()
        assert may_end.wait(60)

    store.before_read = wait
    found: list[bytes] = []

    def work() -> None:
        with lease(Cache(tmp_path), store, "a")[0] as held:
            found.append(held.path.read_bytes())

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert begun.wait(60)
    may_end.set()
    for thread in threads:
        thread.join()

    assert found == [store.files["a"]] * 3
    assert len(store.reads) == 10


def test_a_download_that_failed_goes_on_and_counts(store: MemoryStore, tmp_path: Path) -> None:
    def fail(_key: str, start: int) -> None:
        if start == 90:
            raise TrainwayError("cut off")

    cache = Cache(tmp_path, limit=150)
    store.before_read = fail
    with pytest.raises(TrainwayError, match="cut off"):
        use(cache, store, "a")
    assert cache.size() >= 100
    store.before_read = lambda _key, _start: None

    use(cache, store, "a")
    use(cache, store, "b")

    assert len([key for key, _ in store.reads if key == "a"]) == 10
    assert not is_here(cache, store, "a")


def test_what_is_larger_than_the_cache_is_refused(store: MemoryStore, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has 100 bytes, and the cache may have 99 bytes"):
        use(Cache(tmp_path, limit=99), store, "a")


def test_the_same_hash_is_the_same_content() -> None:
    entry = Entry("a", 1, "etag", sha256="ab")

    assert identity("hf://a/b", entry) == identity("s3://c", replace(entry, etag="other"))
    assert identity("s3://a", Entry("a", 1, "x")) != identity("s3://b", Entry("a", 1, "x"))


@pytest.mark.parametrize(
    ("text", "size"), [("5", 5), ("500MB", 500_000_000), ("1.5 tb", 1_500_000_000_000), ("0", 0)]
)
def test_a_size_has_a_unit(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "much", "-1GB", "1e999GB", "nanGB"])
def test_what_is_not_a_size_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a size"):
        parse_size(text)


def test_what_had_just_arrived_when_somebody_was_killed_is_not_fetched_again(
    store: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainway.data.cache._finish", killed)
    with pytest.raises(KeyboardInterrupt):
        lease(Cache(tmp_path), store, "a")
    monkeypatch.undo()

    found, outcome = lease(Cache(tmp_path), store, "a")
    assert (outcome.fetched, found.path.read_bytes()) == (0, store.files["a"])
    assert not found.path.stat().st_mode & 0o222
    found.close()
    assert lease(Cache(tmp_path), store, "a")[1].present == 1


def test_a_cache_that_cannot_be_written_says_what_to_do(store: MemoryStore, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DiskError, match="cannot be written") as raised:
        Cache(tmp_path / "file")
    assert "TRAINWAY_DATA_CACHE" in (raised.value.hint or "")
    cache = Cache(tmp_path / "cache")
    (tmp_path / "cache").rmdir()
    (tmp_path / "cache").touch()
    with pytest.raises(DiskError, match="cannot be written") as raised:
        lease(cache, store, "a")
    assert "TRAINWAY_DATA_CACHE" in (raised.value.hint or "")


def killed(_path: Path) -> None:
    raise KeyboardInterrupt


def test_what_somebody_changed_is_fetched_anew(store: MemoryStore, tmp_path: Path) -> None:
    found, _ = lease(Cache(tmp_path), store, "a")
    found.close()
    found.path.chmod(0o644)
    found.path.write_bytes(b"z" * 100)

    assert lease(Cache(tmp_path), store, "a")[0].path.read_bytes() == store.files["a"]
