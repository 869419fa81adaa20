"""What is shared by the machines of a cluster goes with the last of them, and not before."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from trainway.engine.rental.book import RentalBook
from trainway.engine.rental.gangs import Gangs
from trainway.engine.rental.record import Rental, RentalState, request_text
from trainway.engine.rental.store import RentalStore
from trainway.engine.rental.testing import CLUSTER, OWNER, RentalWorld
from trainway.providers.base import GangRequest, Place


def _rental(token: str, state: RentalState) -> Rental:
    request = GangRequest(token, OWNER, CLUSTER, Place("east"), "p5", 1, "k")
    return Rental(
        cluster=CLUSTER,
        token=token,
        state=state,
        cloud="aws",
        region="east",
        request=request_text(request),
    )


async def _known(world: RentalWorld, book: RentalBook, *rentals: Rental) -> None:
    """Rows that an earlier server has written."""
    RentalStore(world.database).change(rentals)
    await book.load()


def _play(world: RentalWorld, scene: Callable[[Gangs, RentalBook], Awaitable[None]]) -> None:
    async def play() -> None:
        _, around = world.server()
        book = RentalBook(around.ledger, around.clock)
        try:
            await scene(Gangs(around, book), book)
        finally:
            await book.close()
            around.clouds.close()
            around.ledger.close()

    asyncio.run(play())


def test_what_a_running_rental_uses_is_not_released(tmp_path: Path) -> None:
    world = RentalWorld(tmp_path)
    old, new = _rental("old", RentalState.ENDING), _rental("new", RentalState.RUNNING)

    async def scene(gangs: Gangs, book: RentalBook) -> None:
        await _known(world, book, old, new)
        world.aws.create(old.gang)
        world.aws.create(new.gang)
        await gangs.give_back(old)

    _play(world, scene)
    assert [each.token for each in world.machines()] == ["new"]
    assert world.rules() == [f"{OWNER}/{CLUSTER}"]


def test_of_two_that_end_at_once_the_last_releases_it(tmp_path: Path) -> None:
    world = RentalWorld(tmp_path)
    first, second = _rental("one", RentalState.ENDING), _rental("two", RentalState.ENDING)

    async def scene(gangs: Gangs, book: RentalBook) -> None:
        await _known(world, book, first, second)
        world.aws.create(first.gang)
        world.aws.create(second.gang)
        await gangs.give_back(first)
        assert world.rules() == [f"{OWNER}/{CLUSTER}"]
        await gangs.give_back(second)  # the end of the first is not written yet

    _play(world, scene)
    assert not world.machines()
    assert not world.rules()


def test_what_is_gone_already_is_given_back_too(tmp_path: Path) -> None:
    world = RentalWorld(tmp_path)
    rental = _rental("one", RentalState.ENDING)

    async def scene(gangs: Gangs, book: RentalBook) -> None:
        await _known(world, book, rental)
        (made,) = world.aws.create(rental.gang)
        world.aws.take(made.id)
        assert not await gangs.give_back(rental)

    _play(world, scene)
    assert not world.rules()
