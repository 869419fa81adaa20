import asyncio
import errno
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from trainway.data.uri import parse
from trainway.engine.checkpoint import mirrors as module
from trainway.engine.checkpoint.mirror import Mirror
from trainway.engine.checkpoint.mirrors import Mirrors
from trainway.errors import DatabaseError, NotFoundError, UnavailableError
from trainway.jobset.labels import CHECKPOINT
from trainway.json_types import Json

OBJECTS = [{"kind": "JobSet", "metadata": {"annotations": {CHECKPOINT: "s3://bucket/run"}}}]


class Reading:
    """Knows what one job was made from."""

    is_over = True

    async def objects(self, job_id: str) -> list[Json]:
        if job_id != "a":
            raise NotFoundError("no such job")
        return OBJECTS

    async def whole(self, job_id: str) -> tuple[Any, list[Json]]:
        return record(job_id, is_over=self.is_over), await self.objects(job_id)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each look was the last one; the first two fail."""
    seen: list[bool] = []

    def look(self: Mirror, *, is_over: bool = False) -> bool:
        seen.append(is_over)
        if len(seen) <= 2:
            raise UnavailableError("the bucket does not answer")
        self._keep(is_pending=not is_over)
        return True

    monkeypatch.setattr(Mirror, "look", look)
    monkeypatch.setattr(module, "_SHARE", 0.0)
    return seen


class Backend:
    """Keeps the output of the job `a`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def output(self, _handle: Json) -> Path:
        return self._folder / "a" / "output"


def begun(jobs: Path, key: str) -> None:
    """What a job that names a bucket has before it is started."""
    (jobs / key).mkdir(parents=True)
    Mirror(jobs / key / "output", parse("s3://bucket/run"), key)._keep()


def record(key: str = "a", **fields: Any) -> Any:
    known = {"is_over": False, "started": "now", "name": key, "run": None}
    return SimpleNamespace(id=key, **{**known, **fields})


def watching(jobs: Path, live: dict[str, Any], reading: Reading | None = None) -> Mirrors:
    return Mirrors(live, reading or Reading(), jobs)  # type: ignore[arg-type] # stand-ins for a live job and reading


def look(mine: Mirrors) -> None:
    async def all_of_it() -> None:
        await asyncio.gather(*await mine.look())

    asyncio.run(all_of_it())


def test_a_job_that_was_short_is_mirrored_until_it_worked(
    tmp_path: Path, looks: list[bool]
) -> None:
    begun(tmp_path, "a")
    mine = watching(tmp_path, {})
    mine.changed(record(), record(is_over=True))
    assert not mine.is_idle
    for _ in range(4):
        look(mine)
    assert looks == [True, True, True]
    assert mine.is_idle


def test_the_next_server_goes_on(tmp_path: Path, looks: list[bool]) -> None:
    for key in ("a", "forgotten"):
        begun(tmp_path, key)
    (tmp_path / "other").mkdir()
    mine = watching(tmp_path, {})
    asyncio.run(mine._find_ended())
    for _ in range(3):
        look(mine)
    assert (looks, mine.is_idle) == ([True, True, True], True)
    again = watching(tmp_path, {})
    asyncio.run(again._find_ended())
    assert again.is_idle


def test_a_job_that_begins_anew_is_looked_for_anew(tmp_path: Path, looks: list[bool]) -> None:
    job = SimpleNamespace(id="a", record=record(handle_data={}), backend=Backend(tmp_path))
    mine = watching(tmp_path, {"a": job})
    looks += [False, False]  # the bucket answers
    look(mine)  # its place was lost, and the note with it
    mine.changed(record(), record(started=""))
    begun(tmp_path, "a")
    look(mine)
    assert looks[2:] == [False]


def test_a_job_that_could_not_be_taken_up_is_left_to_the_next_server(
    tmp_path: Path, looks: list[bool]
) -> None:
    begun(tmp_path, "a")
    reading = Reading()
    reading.is_over = False
    mine = watching(tmp_path, {}, reading)
    asyncio.run(mine._find_ended())
    look(mine)
    assert (looks, mine.is_idle) == ([], True), "it may run on, and write to its output"


def test_a_bucket_that_never_answers_is_given_up(
    tmp_path: Path, looks: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_FAILURES", 2)
    begun(tmp_path, "a")
    mine = watching(tmp_path, {})
    asyncio.run(mine._find_ended())
    for _ in range(3):
        look(mine)
    assert (looks, mine.is_idle) == ([True, True], True)
    assert Mirror(tmp_path / "a" / "output", parse("s3://bucket/run"), "a").is_pending()


def test_a_store_that_is_locked_ends_no_mirroring(
    tmp_path: Path, looks: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_FAILURES", 1)
    looks += [False, False]  # the bucket answers
    for key in ("a", "b", "later"):
        begun(tmp_path, key)
    locked = {"a", "b"}

    class Locked(Reading):
        async def objects(self, job_id: str) -> list[Json]:
            if job_id in locked:
                raise DatabaseError("the database is locked by another program")
            return OBJECTS

    job = SimpleNamespace(id="a", record=record(handle_data={}), backend=Backend(tmp_path))
    live = {"a": job, "later": SimpleNamespace(id="later")}
    mine = watching(tmp_path, live, Locked())
    asyncio.run(mine._find_ended())
    live.pop("later")
    mine.changed(record("later"), record("later", is_over=True))
    look(mine)
    assert looks[2:] == [True], "only the one whose objects could be read is mirrored"
    assert not mine.is_idle
    locked.clear()
    look(mine)
    assert sorted(looks[3:]) == [False, True]


def test_a_note_that_is_never_read_is_left_to_the_next_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_FAILURES", 2)

    def broken(_self: Mirror) -> bool:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(Mirror, "is_pending", broken)
    begun(tmp_path, "a")
    mine = watching(tmp_path, {})
    asyncio.run(mine._find_ended())
    assert not mine.is_idle
    look(mine)
    assert mine.is_idle


def test_a_round_that_fails_is_not_the_last_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOK_S", 0.0)
    mine = watching(tmp_path, {})

    async def scene() -> int:
        rounds, enough = 0, asyncio.Event()

        async def fails() -> None:
            nonlocal rounds
            rounds += 1
            if rounds == 3:
                enough.set()
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(mine, "look", fails)
        running = asyncio.create_task(mine.run())
        await enough.wait()
        running.cancel()
        return rounds

    assert asyncio.run(scene()) == 3


def test_an_event_that_cannot_be_stored_is_told_at_the_next_look(
    tmp_path: Path, looks: list[bool]
) -> None:
    begun(tmp_path, "a")
    told: list[str] = []

    async def observe(_change: object) -> None:
        told.append("asked")
        if len(told) == 1:
            raise DatabaseError("the database is locked by another program")

    job = SimpleNamespace(
        id="a",
        record=record(handle_data={}),
        backend=Backend(tmp_path),
        event=lambda *_, **__: None,
        observe=observe,
    )
    mine = watching(tmp_path, {"a": job})
    for _ in range(3):
        look(mine)
    assert (told, len(looks)) == (["asked", "asked"], 3)


def test_a_running_job_is_told_once_what_is_wrong(tmp_path: Path, looks: list[bool]) -> None:
    begun(tmp_path, "a")
    told: list[str] = []

    async def observe(_change: object) -> None:
        pass

    def event(reason: str, message: str, kind: str) -> None:
        told.append(f"{kind} {reason}: {message}")

    job = SimpleNamespace(
        id="a",
        record=record(handle_data={}),
        backend=Backend(tmp_path),
        event=event,
        observe=observe,
    )
    live = {"a": job, "b": SimpleNamespace(id="b", record=record("b"), backend=object())}
    mine = watching(tmp_path, live)
    for _ in range(3):
        look(mine)
    assert looks == [False, False, False]
    assert told == ["Warning CheckpointNotMirrored: s3://bucket/run: the bucket does not answer"]
    live.clear()
    look(mine)
    assert (looks[-1], mine.is_idle) == (True, True)


def test_a_bucket_that_failed_for_long_is_tried_as_often_after_the_end(
    tmp_path: Path, looks: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_FAILURES", 2)
    begun(tmp_path, "a")

    def fails(_self: Mirror, *, is_over: bool = False) -> bool:
        looks.append(is_over)
        raise UnavailableError("the bucket does not answer")

    monkeypatch.setattr(Mirror, "look", fails)

    async def observe(_change: object) -> None:
        pass

    job = SimpleNamespace(
        id="a",
        record=record(handle_data={}),
        backend=Backend(tmp_path),
        event=lambda *_, **__: None,
        observe=observe,
    )
    live = {"a": job}
    mine = watching(tmp_path, live)
    for _ in range(3):
        look(mine)
    live.clear()
    look(mine)
    assert not mine.is_idle, "the first failure after the end is not the last attempt"
    look(mine)
    assert mine.is_idle


def test_what_is_elsewhere_is_brought_before_each_look(tmp_path: Path, looks: list[bool]) -> None:
    begun(tmp_path, "a")
    looks += [False, False]  # the bucket answers
    brought: list[int] = []

    class Bringing(Backend):
        def why_not_brought(self, _handle: Json) -> str:
            return ""

        async def bring(self, handle: Json) -> None:
            assert handle == {"held": True}
            brought.append(len(looks))
            if len(brought) == 2:
                raise UnavailableError("the pod does not answer")

    async def observe(_change: object) -> None:
        pass

    job = SimpleNamespace(
        id="a",
        record=record(handle_data={"held": True}),
        backend=Bringing(tmp_path),
        event=lambda *_, **__: None,
        observe=observe,
    )
    live = {"a": job}
    mine = watching(tmp_path, live)
    for _ in range(3):
        look(mine)
    assert (brought, len(looks)) == ([2, 3, 3], 4)  # nothing is mirrored that did not come
    live.clear()
    look(mine)
    assert (len(brought), looks[-1]) == (3, True)
