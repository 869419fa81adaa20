"""Of two who write a rental at the same moment, the one whose wish goes further counts."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from trainway.engine.rental.book import RentalBook, SupersededError
from trainway.engine.rental.record import Rental, RentalState
from trainway.engine.rental.testing import RentalWorld

PLANNED = Rental(cluster="c", token="t")  # noqa: S106 - a name


def test_an_end_that_was_written_is_never_overwritten(tmp_path: Path) -> None:
    world = RentalWorld(tmp_path)

    async def scene() -> None:
        _, around = world.server()
        book = RentalBook(around.ledger, around.clock)
        await book.put(PLANNED)
        await book.put(creating := PLANNED.followed_by(RentalState.CREATING))
        running = creating.followed_by(RentalState.RUNNING)
        ending = creating.followed_by(RentalState.ENDING)
        first, second = await asyncio.gather(
            book.put(ending), book.put(running), return_exceptions=True
        )
        assert first is None
        assert isinstance(second, SupersededError)
        assert [each.state for each in around.ledger.store.rentals.living()] == ["ENDING"]
        await book.insist(forget=["t"])
        with pytest.raises(SupersededError):
            await book.put(running)
        assert not book.all()
        around.ledger.close()

    asyncio.run(scene())


def test_what_was_seen_counts_only_for_what_it_was_seen_of(tmp_path: Path) -> None:
    world = RentalWorld(tmp_path)

    async def scene() -> None:
        _, around = world.server()
        book = RentalBook(around.ledger, around.clock)
        await book.put(PLANNED)
        before = book.get("t")
        assert before is not None
        await book.update(before, replace(before, message="one"))
        with pytest.raises(SupersededError):
            await book.update(before, replace(before, message="two"))
        found = book.get("t")
        assert found is not None
        assert found.message == "one"
        around.ledger.close()

    asyncio.run(scene())
