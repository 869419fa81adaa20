import asyncio
import resource
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from trainway.agent.kubelet.long_lines import LINE_LIMIT
from trainway.backends.base import LogLine, LogQuery
from trainway.backends.logs.files import time_text
from trainway.backends.logs.inotify import DirectoryChanges
from trainway.backends.logs.stream import LogReader, stream_logs

START = datetime(2026, 11, 15, tzinfo=UTC)


def write(folder: Path, name: str, *entries: tuple[float, str]) -> None:
    with (folder / f"{name}.log").open("ab") as file:
        for second, text in entries:
            stamp = time_text(START + timedelta(seconds=second))
            file.write(stamp + b" o " + text.encode() + b"\n")


def texts(folder: Path, query: LogQuery) -> list[str]:
    return [line.text.decode() for batch in LogReader(folder, query).unread() for line in batch]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, "node-0-0.main.0", (0, "a0"), (3, "a3"))
    write(tmp_path, "node-0-1.main.0", (1, "b1"), (2, "b2"))
    write(tmp_path, "launcher-0-0.main.0", (1.5, "l"))
    return tmp_path


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        (LogQuery(), ["a0", "b1", "l", "b2", "a3"]),
        (LogQuery(role="node"), ["a0", "b1", "b2", "a3"]),
        (LogQuery(role="node", rank=1), ["b1", "b2"]),
        (LogQuery(role="other"), []),
        (LogQuery(tail=2), ["b2", "a3"]),
        (LogQuery(tail=0), []),
        (LogQuery(tail=100), ["a0", "b1", "l", "b2", "a3"]),
        (LogQuery(since=START + timedelta(seconds=1.5)), ["l", "b2", "a3"]),
        (LogQuery(since=START + timedelta(seconds=1.5), tail=1), ["a3"]),
        (LogQuery(since=START + timedelta(seconds=3), tail=4), ["a3"]),
    ],
)
def test_queries(folder: Path, query: LogQuery, wanted: list[str]) -> None:
    assert texts(folder, query) == wanted


def test_the_newest_attempt_counts_unless_all_are_wanted(folder: Path) -> None:
    write(folder, "node-0-0.main.1", (5, "second"))
    assert texts(folder, LogQuery()) == ["second"]
    assert texts(folder, LogQuery(all_attempts=True)) == ["a0", "b1", "l", "b2", "a3", "second"]


def test_a_line_says_where_it_comes_from(folder: Path) -> None:
    (batch,) = LogReader(folder, LogQuery(role="launcher")).unread()
    line = batch[0]
    assert line[:8] == ("2026-11-15T00:00:01.500000Z", "launcher", 0, 0, "main", 0, "stdout", b"l")


def test_reading_goes_on_behind_every_line(folder: Path) -> None:
    (batch,) = LogReader(folder, LogQuery()).unread()
    for index, line in enumerate(batch):
        rest = texts(folder, LogQuery(cursor=line.cursor))
        assert rest == [each.text.decode() for each in batch[index + 1 :]]


def test_a_late_line_of_another_pod_is_not_lost(folder: Path) -> None:
    (batch,) = LogReader(folder, LogQuery(tail=1)).unread()
    write(folder, "node-0-1.main.0", (2.5, "late"))
    write(folder, "node-0-2.main.0", (0.5, "new pod"))
    assert texts(folder, LogQuery(cursor=batch[0].cursor)) == ["new pod", "late"]


def test_a_resumed_reader_sees_the_next_attempt_but_not_an_earlier_one(folder: Path) -> None:
    write(folder, "node-0-0.main.1", (5, "second"))
    (batch,) = LogReader(folder, LogQuery()).unread()
    write(folder, "node-0-0.main.2", (6, "third"))
    assert texts(folder, LogQuery(cursor=batch[-1].cursor)) == ["third"]


def test_half_a_line_waits_for_its_other_half(folder: Path) -> None:
    reader = LogReader(folder, LogQuery(role="launcher", tail=0))
    assert list(reader.unread()) == []
    with (folder / "launcher-0-0.main.0.log").open("ab") as file:
        file.write(time_text(START) + b" e hal")
        file.flush()
        assert list(reader.unread()) == []
        file.write(b"ves\n")
        file.flush()
    ((line,),) = reader.unread()
    assert (line.text, line.stream) == (b"halves", "stderr")


def test_the_parts_of_a_long_line_say_that_it_goes_on(folder: Path) -> None:
    with (folder / "launcher-0-0.main.0.log").open("wb") as file:
        file.write(time_text(START) + b" E begun\n" + time_text(START) + b" e ended\n")
        # Written by an older agent, which split no lines.
        file.write(time_text(START) + b" e " + b"x" * 100_000 + b"\n")
    (batch,) = LogReader(folder, LogQuery(role="launcher")).unread()
    found = [(line.stream, line.time[-8:], len(line.text), line.is_part) for line in batch]
    assert found == [
        ("stderr", ".000000Z", 5, True),
        ("stderr", ".000000Z", 5, False),
        ("stderr", ".000000Z", LINE_LIMIT, True),
        ("stderr", ".000000Z", 100_000 - LINE_LIMIT, False),
    ]
    again = [line.text for line in _rest(folder, batch[2].cursor)]
    assert again == [b"x" * (100_000 - LINE_LIMIT)]


def _rest(folder: Path, cursor: str) -> list[LogLine]:
    query = LogQuery(role="launcher", cursor=cursor)
    return [line for batch in LogReader(folder, query).unread() for line in batch]


def test_batches_are_small_however_long_lines_are(folder: Path) -> None:
    write(folder, "node-0-0.main.1", *[(second, "x" * LINE_LIMIT) for second in range(100)])
    batches = list(LogReader(folder, LogQuery()).unread())
    assert max(sum(len(line.text) for line in batch) for batch in batches) < 2 << 20
    assert sum(map(len, batches)) == 100


def test_the_end_of_many_lines_is_found_in_little_memory(folder: Path) -> None:
    lines = [(second / 1000, "x") for second in range(3_000)]
    write(folder, "node-0-0.main.1", *lines)
    write(folder, "node-0-1.main.1", *lines)
    tracemalloc.start()
    try:
        reader = LogReader(folder, LogQuery(tail=10**12))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 19
    assert sum(map(len, reader.unread())) == 6_000


def test_readers_of_many_files_hold_none_open(folder: Path) -> None:
    for rank in range(100):
        write(folder, f"node-0-{rank}.main.1", (rank, f"{rank}"), (rank + 0.5, "last"))
    opened = len(list(Path("/proc/self/fd").iterdir()))
    with limited_files(opened + 10):
        assert texts(folder, LogQuery(tail=3)) == ["last", "99", "last"]
        assert len(texts(folder, LogQuery())) == 200
        assert len(texts(folder, LogQuery(since=START + timedelta(seconds=50)))) == 100


@contextmanager
def limited_files(count: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Follower:
    """Reads a stream in the background."""

    def __init__(self, folder: Path, query: LogQuery) -> None:
        self.lines: list[LogLine] = []
        self.ended = asyncio.Event()
        self._got = asyncio.Event()
        self._task = asyncio.create_task(self._read(folder, query))

    async def _read(self, folder: Path, query: LogQuery) -> None:
        async for batch in stream_logs(folder, query, self.ended):
            self.lines += batch
            self._got.set()

    async def wait(self, done: Callable[[list[LogLine]], bool]) -> None:
        async with asyncio.timeout(60):
            while not done(self.lines):
                await self._got.wait()
                self._got.clear()

    async def finish(self) -> list[str]:
        self.ended.set()
        await asyncio.wait_for(self._task, 60)
        return [line.text.decode() for line in self.lines]


def test_a_follower_gets_lines_as_they_come_until_the_end(folder: Path) -> None:
    async def run() -> list[str]:
        follower = Follower(folder, LogQuery(follow=True, tail=1))
        await follower.wait(lambda lines: len(lines) == 1)
        write(folder, "node-0-1.main.0", (4, "next"))
        await follower.wait(lambda lines: len(lines) == 2)
        write(folder, "node-0-0.main.1", (5, "next attempt"))
        await follower.wait(lambda lines: len(lines) == 3)
        write(folder, "node-0-0.main.1", (6, "last"))
        return await follower.finish()

    assert asyncio.run(run()) == ["a3", "next", "next attempt", "last"]


def test_without_inotify_a_follower_looks_now_and_then(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainway.backends.logs.inotify._open", lambda _folder: -1)

    async def run() -> list[str]:
        follower = Follower(folder, LogQuery(follow=True, tail=1))
        await follower.wait(lambda lines: len(lines) == 1)
        write(folder, "node-0-1.main.0", (4, "next"))
        await follower.wait(lambda lines: len(lines) == 2)
        return await follower.finish()

    assert asyncio.run(run()) == ["a3", "next"]


def test_changes_of_a_directory_that_is_not_there_are_waited_for_by_the_clock(
    tmp_path: Path,
) -> None:
    async def run() -> None:
        with DirectoryChanges(tmp_path / "none") as changes:
            await asyncio.wait_for(changes.wait(asyncio.Event()), 60)

    asyncio.run(run())
