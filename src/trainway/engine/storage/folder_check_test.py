"""Folders are looked for when a volume is named, and again when a job wants it."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from trainway.backends.folders import Folder
from trainway.backends.testing import FakeBackend
from trainway.engine.submission import Submission
from trainway.engine.testing import World, act, jobset
from trainway.errors import InvalidError, UnavailableError
from trainway.json_types import Json


class Machine(FakeBackend):
    """Has the folders that the test says."""

    def __init__(self) -> None:
        super().__init__()
        self.folders = {"/srv/corpus"}
        self.asked: list[Folder] = []
        self.is_away = False

    async def lacking(self, folders: Sequence[Folder]) -> list[str]:
        if self.is_away:
            raise UnavailableError("it does not answer")
        self.asked += folders
        missing = [each.path for each in folders if each.path not in self.folders]
        return [f"{path} does not exist on h1" for path in missing]


def volume(path: str = "/srv/corpus", **config: str) -> Json:
    return {"name": "corpus", "type": "directory", "config": {"host_path": path, **config}}


def reader() -> Json:
    made = jobset("reader")
    pod = made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    pod["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": "corpus"}}]
    return made


def played(scene: Any) -> None:
    machine = Machine()

    async def whole(world: World) -> None:
        await scene(world, machine)

    asyncio.run(act(whole, World(machine)))


def test_a_volume_without_its_folder_is_refused() -> None:
    async def scene(world: World, machine: Machine) -> None:
        book = world.engine.storage
        with pytest.raises(InvalidError) as caught:
            await book.apply(volume("/srv/corpsu"))
        assert caught.value.lines == ("config.host_path: /srv/corpsu does not exist on h1",)
        assert book.volumes() == []
        machine.is_away = True
        await book.apply(volume("/srv/corpsu"))
        assert len(book.volumes()) == 1

    played(scene)


@pytest.mark.parametrize(
    ("mode", "is_written"),
    [("ReadWriteMany", True), ("ReadWriteOnce", True), ("ReadOnlyMany", False), ("", False)],
)
def test_only_what_is_written_must_be_writable(mode: str, is_written: bool) -> None:
    async def scene(world: World, machine: Machine) -> None:
        await world.engine.storage.apply(volume(**({"access_mode": mode} if mode else {})))
        assert machine.asked == [Folder("/srv/corpus", is_written)]

    played(scene)


def test_a_job_is_refused_whose_volume_has_gone() -> None:
    async def scene(world: World, machine: Machine) -> None:
        await world.engine.storage.apply(volume())
        wanted = world.engine.storage.meant(Submission([reader()], environ={}))
        await world.engine.submit(wanted)
        machine.folders.clear()
        with pytest.raises(InvalidError) as caught:
            await world.engine.submit(wanted)
        assert str(caught.value) == "volumes (corpus): /srv/corpus does not exist on h1"
        asked = len(machine.asked)
        await world.submit("other")
        assert len(machine.asked) == asked

    played(scene)
