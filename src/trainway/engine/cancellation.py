"""Ends several jobs as one: all of them are told, or none."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from operator import attrgetter

from trainway.engine import wishing
from trainway.engine.ledger import Ledger
from trainway.engine.live import LiveJob
from trainway.engine.stored_job import write
from trainway.engine.wishes import CANCEL


async def cancel_all(ledger: Ledger, lives: Sequence[LiveJob]) -> None:
    """Cancel jobs that are not over; those that end already do so."""
    async with AsyncExitStack() as pens:
        for live in sorted(lives, key=attrgetter("id")):  # as a round of the queue takes them
            await pens.enter_async_context(live.pen)
            await live.refresh()
        wanted = [(live, wishing.ended(live, CANCEL)) for live in lives]
        changes = [(live, change) for live, change in wanted if change is not None]
        if changes:
            await write(ledger, changes)
