from pathlib import Path

import pytest

from trainway.data import cache as cache_module
from trainway.data.cache import Cache
from trainway.data.cached_copy import bring
from trainway.data.transfer import Options, Wanted
from trainway.data.transfer_testing import MemoryStore


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore({"large": b"l" * 500, "large2": b"m" * 500, "small": b"s" * 10})


def wanted(store: MemoryStore, folder: Path) -> list[Wanted]:
    entries = [store.stat(key) for key in store.files]
    return [
        Wanted(store, entry, f"s3://b/{entry.key}", folder / entry.key)
        for entry in entries
        if entry is not None
    ]


def test_only_what_has_no_room_in_the_cache_goes_past_it(
    store: MemoryStore, tmp_path: Path
) -> None:
    cache, said = Cache(tmp_path / "cache", limit=100), list[str]()
    options = Options(part_size=100, say=said.append)

    done = bring(cache, wanted(store, tmp_path / "one"), options)
    again = bring(cache, wanted(store, tmp_path / "two"), options)

    for name in ("one", "two"):
        found = {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
        assert found == store.files
    assert said == ["it is too large for the cache, and goes past it"] * 2
    assert (done.files, done.size, done.fetched) == (3, 1010, 1010)
    assert (again.fetched, again.present) == (1000, 1)


def test_what_nobody_uses_makes_room_on_a_disk_that_is_smaller_than_the_limit(
    store: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, said = Cache(tmp_path / "cache"), list[str]()
    options = Options(part_size=1000, workers=1, say=said.append)
    monkeypatch.setattr(cache_module, "room_in", lambda _folder: 1200 - cache.size())
    large, large2, small = wanted(store, tmp_path / "out")
    for each in (large, large2):
        bring(cache, [each], options)

    store.files["large3"] = b"n" * 600
    last = wanted(store, tmp_path / "out")[-1]
    bring(cache, [last], options)
    assert (cache.size(), said) == (1100, []), "the one that was used last is still here"

    store.files["huge"] = b"h" * 1300
    bring(cache, [wanted(store, tmp_path / "out")[-1], small], options)
    assert said == ["the disk of the cache has no room for it: it goes past the cache"]
    assert cache.size() == 1110, "nothing is removed in vain"
