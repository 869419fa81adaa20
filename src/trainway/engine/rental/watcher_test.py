"""What becomes of rented machines while the database is locked: written ones are told at once."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trainway.api.task.infra import Infra
from trainway.engine.faulty_store import locked
from trainway.engine.rental.rentals import Rentals
from trainway.engine.rental.testing import TERMS, RentalWorld, Steps, wanted
from trainway.engine.rental.watch import ChangeKind, RentalChange
from trainway.engine.rental.watcher import INTERVAL_S
from trainway.errors import DatabaseError

AT = "2026-11-18T08:00:00Z"
BOTH = [("one", ChangeKind.NOTICE), ("two", ChangeKind.NOTICE)]


class Locked(Steps):
    """The database is locked for one write of the ledger, after some others."""

    writes: int = 0
    """The write that fails, counted from here; 0: none does."""

    def call(self, name: str, work: Callable[[], Any]) -> Any:
        if self.writes and name == "change":
            self.writes -= 1
            if not self.writes:
                raise locked()
        return super().call(name, work)


class Watched:
    """Two clusters of spot machines, of which each loses one."""

    def __init__(self, world: RentalWorld, second: str) -> None:
        self.world = world
        self.second = second
        self.heard: list[tuple[str, ChangeKind]] = []

    async def hear(self, change: RentalChange) -> None:
        """Note what is told."""
        self.heard.append((change.rental.cluster, change.kind))

    async def begin(self, rentals: Rentals) -> None:
        """Rent both, and let their clouds say that they take machines."""
        rentals.subscribe(self.hear)
        for name, place in (("one", "gcp"), ("two", self.second)):
            named = wanted(spot=True).at([Infra(place)])
            rental = await rentals.rent(name, named, TERMS)
            self.world.clouds[place].warn(rental.machines[0].id, AT)


@pytest.mark.parametrize("second", ["gcp", "aws"])
def test_a_notice_is_told_although_another_one_cannot_be_written(
    second: str, tmp_path: Path
) -> None:
    world, steps = RentalWorld(tmp_path), Locked()
    watched = Watched(world, second)

    async def script(rentals: Rentals) -> None:
        await watched.begin(rentals)
        steps.writes = 2
        with pytest.raises(DatabaseError):
            await rentals.look()
        assert len(watched.heard) == 1, "what is written is told"
        await rentals.look()
        assert sorted(watched.heard) == BOTH
        assert not await rentals.look()

    assert world.live(script, steps)


def test_what_could_not_be_written_is_looked_at_soon(tmp_path: Path) -> None:
    """A notice of Google comes half a minute ahead: another whole interval would be much of it."""
    world, steps, pauses = RentalWorld(tmp_path), Locked(), list[float]()
    watched, looks = Watched(world, "gcp"), asyncio.Semaphore(0)

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        await looks.acquire()

    async def script(rentals: Rentals) -> None:
        await watched.begin(rentals)
        steps.writes = 1
        looks.release()
        while len(pauses) < 2:  # nothing announces that somebody pauses
            await asyncio.sleep(0.001)
        assert not watched.heard
        looks.release()
        while len(pauses) < 3:
            await asyncio.sleep(0.001)
        assert sorted(watched.heard) == BOTH

    world.pause = pause  # type: ignore[method-assign] # its watch goes on when the test says so
    assert world.live(script, steps)
    assert pauses[0] == pauses[2] == INTERVAL_S
    assert pauses[1] < 1
