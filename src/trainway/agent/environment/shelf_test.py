import fcntl
import os
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from trainway.agent.environment.requirements import KEY_LENGTH
from trainway.agent.environment.shelf import DAY, Entry, Shelf, folder_of, superfluous

A = "a" * KEY_LENGTH
"""The name of an environment."""


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    made = Shelf(str(tmp_path / "cache" / "environments"))
    made.prepare()
    return made


def put(shelf: Shelf, key: str, size: int = 4096, age: float = 0.0) -> None:
    Path(shelf.path(key)).mkdir()
    Path(shelf.path(key), "data").write_bytes(b"x" * size)
    shelf.finish(key, {"packages": [key]})
    used = time.time() - age
    os.utime(f"{shelf.path(key)}.json", (used, used))


@dataclass(frozen=True)
class Case:
    name: str
    sizes: dict[str, int]
    limit: int = 100
    used: dict[str, float] = field(default_factory=dict)
    busy: tuple[str, ...] = ()
    going: tuple[str, ...] = ()


CASES = (
    Case("all fit", {"a": 50, "b": 50}),
    Case("the oldest goes", {"a": 60, "b": 60}, used={"a": 2, "b": 1}, going=("a",)),
    Case("not what is used", {"a": 60, "b": 60}, used={"a": 2, "b": 1}, busy=("a",),
         going=("b",)),
    Case("not what was just made", {"a": 200}),
    Case("unless all are to go", {"a": 200}, limit=-1, going=("a",)),
    Case("all in use", {"a": 60, "b": 60}, busy=("a", "b")),
    Case("long unused", {"a": 1, "b": 1}, used={"a": 31}, going=("a",)),
    Case("long unused, but busy", {"a": 1}, used={"a": 31}, busy=("a",)),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_superfluous(case: Case) -> None:
    now = 1e9
    entries = [
        Entry(key, {"bytes": size}, now - case.used.get(key, 0) * DAY)
        for key, size in case.sizes.items()
    ]
    found = superfluous(entries, case.limit, 30, now, lambda key: key not in case.busy)
    assert tuple(found) == case.going


def test_only_the_owner_may_write_where_programs_are_run_from(shelf: Shelf) -> None:
    assert Path(shelf.folder).stat().st_mode & 0o777 == 0o700


def test_a_folder_without_its_note_is_not_there(shelf: Shelf) -> None:
    Path(shelf.path(A)).mkdir()
    assert (shelf.facts(A), shelf.use(A), shelf.entries()) == (None, None, [])


def test_what_is_used_is_never_removed(shelf: Shelf) -> None:
    put(shelf, A)
    lease = shelf.use(A)
    assert lease is not None
    assert not shelf.is_free(A)
    assert shelf.prune(-1, 0.0) == []
    os.close(lease)
    assert [entry.key for entry in shelf.prune(-1, 0.0)] == [A]
    assert not Path(shelf.path(A)).exists()


@pytest.mark.parametrize("name", ["thesis", A.upper(), f"{A}a", "uv"])
def test_what_others_have_in_the_folder_stays(shelf: Shelf, name: str) -> None:
    Path(shelf.path(name)).mkdir()
    Path(shelf.path(name), "chapter").write_text("1")
    note = Path(f"{shelf.path(name)}.json")
    note.write_text('{"bytes": 1000}')
    os.utime(note, (0, 0))

    assert shelf.entries() == []
    assert shelf.prune(0, 30.0) == []
    assert shelf.prune(-1, 0.0) == []
    assert Path(shelf.path(name), "chapter").exists()


def test_using_one_counts_as_its_last_use(shelf: Shelf) -> None:
    put(shelf, A, age=40 * DAY)
    lease = shelf.use(A)
    assert lease is not None
    os.close(lease)
    assert shelf.prune(10**9, 30.0) == []


def test_what_somebody_makes_is_not_used(shelf: Shelf) -> None:
    put(shelf, A)
    with shelf.alone(A) as lock:
        assert shelf.use(A) is None
        assert fcntl.fcntl(lock, fcntl.F_GETFD) & fcntl.FD_CLOEXEC
    assert shelf.use(A) is not None


def test_who_came_second_does_not_wait_for_those_who_use_what_the_first_has_made(
    shelf: Shelf,
) -> None:
    put(shelf, A)
    lease = shelf.use(A)
    with shelf.making(A) as lock:
        assert lock is None
    assert lease is not None
    assert not shelf.is_free(A)


def test_what_is_not_whole_is_made_by_one_after_the_other(shelf: Shelf) -> None:
    first, told = threading.Event(), []

    def make() -> None:
        first.wait()
        with shelf.making(A) as lock:
            told.append(lock)

    second = threading.Thread(target=make)
    second.start()
    with shelf.making(A) as lock:
        assert lock is not None
        first.set()
        put(shelf, A)
    second.join(timeout=60)
    assert told == [None]


def test_the_rest_of_one_that_somebody_uses_is_waited_for_in_peace(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(shelf, A)
    lease = shelf.use(A)
    assert lease is not None
    Path(f"{shelf.path(A)}.json").unlink()
    asked: list[int] = []
    pauses: list[float] = []
    flock = fcntl.flock

    def counted(handle: int, how: int) -> None:
        asked.append(how)
        assert len(asked) < 20, "it asks again and again"
        flock(handle, how)

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        assert not shelf.is_free(A)
        if len(pauses) == 2:
            os.close(lease)

    monkeypatch.setattr(fcntl, "flock", counted)
    with shelf.making(A, pause) as lock:
        assert lock is not None
        assert len(pauses) == 2
        assert min(pauses) > 0


def test_of_those_who_wait_for_it_one_makes_it_and_the_others_wait_for_nobody_who_uses_it(
    shelf: Shelf,
) -> None:
    put(shelf, A)
    rest = shelf.use(A)
    assert rest is not None
    Path(f"{shelf.path(A)}.json").unlink()
    waiting = [threading.Event() for _ in range(2)]
    may_go = [threading.Event() for _ in range(2)]
    told: list[int | None] = []

    def make(number: int) -> None:
        def pause(_seconds: float) -> None:
            waiting[number].set()
            assert may_go[number].wait(60)

        with shelf.making(A, pause) as lock:
            told.append(lock)
            if lock is not None:
                shelf.finish(A, {})

    threads = [threading.Thread(target=make, args=(number,)) for number in range(2)]
    for thread, event in zip(threads, waiting, strict=True):
        thread.start()
        assert event.wait(60)
    os.close(rest)
    may_go[0].set()
    threads[0].join(timeout=60)
    lease = shelf.use(A)
    may_go[1].set()
    threads[1].join(timeout=60)

    assert lease is not None
    assert [lock is None for lock in told] == [False, True]
    assert not shelf.is_free(A)


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"HOME": "/h"}, "/h/.cache/trainway/environments"),
        ({"HOME": "/h", "XDG_CACHE_HOME": "/c"}, "/c/trainway/environments"),
        ({"HOME": "/h", "TRAINWAY_ENVIRONMENTS": "/scratch/me"}, "/scratch/me"),
    ],
)
def test_where_they_are(environ: dict[str, str], folder: str) -> None:
    assert folder_of(environ) == folder
