"""A schedule whose time zone the machine has no more, as after an update of its time zones."""

from datetime import tzinfo

import pytest

from trainway.engine.schedule import record
from trainway.engine.schedule.schedules_test import DAY, THREE, at, jobs_once, nightly, played
from trainway.engine.testing import World
from trainway.errors import UsageError
from trainway.schedule.moments import zone_of


def test_it_is_told_and_others_fire(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = True

    def found(name: str) -> tzinfo:
        if gone and name == "Europe/Berlin":
            raise UsageError("there is no time zone 'Europe/Berlin'")
        return zone_of(name)

    async def scene(world: World) -> None:
        nonlocal gone
        schedules = world.engine.schedules
        await schedules.create(nightly(name="lost", zone="Europe/Berlin"))
        await schedules.create(nightly())
        monkeypatch.setattr(record, "zone_of", found)
        await at(world, THREE)
        await jobs_once(world, 1)
        shown = {each["metadata"]["name"]: each["status"] for each in schedules.all()}
        told = (shown["lost"]["next"], shown["lost"]["waiting"])
        assert told == (None, "there is no time zone 'Europe/Berlin'")
        assert shown["nightly"]["waiting"] is None
        gone = False
        await at(world, THREE + DAY)
        assert (await schedules.get("lost"))["status"]["last"]["result"] == "Submitted"
        gone = True
        assert (await schedules.delete("lost"))["metadata"]["name"] == "lost"

    played(scene)
