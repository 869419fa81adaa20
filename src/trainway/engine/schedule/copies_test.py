"""Schedules that a database has lost, and their copies."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from trainway.engine.schedule.record import NewSchedule
from trainway.engine.store import Store
from trainway.engine.submission import Submission
from trainway.engine.testing import World, act, jobset, memory_store
from trainway.errors import DatabaseError
from trainway.schedule.rules import CatchUp, Overlap

Scene = Callable[[World], Awaitable[None]]
NIGHTLY = NewSchedule(
    "nightly", "0 3 * * *", "UTC", CatchUp.ONCE, Overlap.FORBID, False,
    Submission([jobset("train")], environ={"A": "b"}),
)  # fmt: skip


def server(folder: Path, scene: Scene, store: Store | None = None) -> None:
    """A server with copies in a folder, and the scene on it."""

    async def scene_with_copies(world: World) -> None:
        world.engine.schedules.copies.folder = folder
        await world.engine.schedules.start()
        await scene(world)

    asyncio.run(act(scene_with_copies, World(store=store)))


async def create(world: World) -> None:
    await world.engine.schedules.create(NIGHTLY)


def names(world: World) -> list[tuple[str, bool]]:
    found = world.engine.schedules.all()
    return [(each["metadata"]["name"], each["spec"]["paused"]) for each in found]


def test_a_database_that_lost_them_gets_them_back(tmp_path: Path) -> None:
    folder = tmp_path / "schedules"
    server(folder, create)
    (copy,) = folder.iterdir()
    assert copy.stat().st_mode & 0o777 == 0o600

    async def found(world: World) -> None:
        assert names(world) == [("nightly", False)]
        shown = await world.engine.schedules.get("nightly")
        assert shown["spec"]["objects"][0]["metadata"]["name"] == "train"
        assert shown["status"]["next"] == "2026-11-16T03:00:00.000000Z"
        await world.engine.schedules.pause("nightly")

    server(folder, found)

    async def paused(world: World) -> None:
        assert names(world) == [("nightly", True)]
        await world.engine.schedules.delete("nightly")
        assert list(folder.iterdir()) == []

    server(folder, paused)

    async def gone(world: World) -> None:
        assert names(world) == []

    server(folder, gone)


def test_a_copy_that_was_not_written_is_made_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = memory_store()
    monkeypatch.setattr(store, "close", lambda: None)  # the next server has it too
    folder = tmp_path / "schedules"
    folder.write_text("no folder, so that nothing can be written")
    server(folder, create, store)
    folder.unlink()

    async def there(world: World) -> None:
        assert names(world) == [("nightly", False)]
        assert len(list(folder.iterdir())) == 1

    server(folder, there, store)


def test_what_is_no_copy_is_left_alone(tmp_path: Path) -> None:
    server(tmp_path, create)
    (copy,) = tmp_path.iterdir()
    text = copy.read_text()
    broken = {"x": "{}", "y": "no json", "z": text, "w": text.replace("0 3 * * *", "0 99 * * *")}
    for name, content in broken.items():
        (tmp_path / f"{name}.json").write_text(content)

    async def one(world: World) -> None:
        assert names(world) == [("nightly", False)]

    server(tmp_path, one)
    assert len(list(tmp_path.iterdir())) == 5


def test_a_schedule_whose_copy_stays_is_not_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: Path, **_: object) -> None:
        raise OSError(f"{path} is read-only")

    async def scene(world: World) -> None:
        await create(world)
        monkeypatch.setattr(Path, "unlink", refused)
        with pytest.raises(DatabaseError):
            await world.engine.schedules.delete("nightly")
        assert names(world) == [("nightly", False)]

    server(tmp_path, scene)
