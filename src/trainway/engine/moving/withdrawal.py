"""Takes a job back from a place that cannot hand it over; it begins anew at another one.

When it returns, nothing of the job runs at the place, and the place knows nothing of it any more.
"""

import asyncio
import logging
from typing import Final

from trainway.backends.base import AgentStartError
from trainway.backends.capabilities import KeepsOutput
from trainway.engine.live import LiveJob
from trainway.engine.moving.kept_attempts import attempts_so_far, keep_attempts
from trainway.engine.moving.kept_output import put_back, set_aside
from trainway.engine.moving.move import Move
from trainway.errors import ConflictError, TrainwayError, UnavailableError

log = logging.getLogger(__name__)

_END_S: Final = 60.0
"""How long the end of a job is waited for before it is asked for again."""


async def withdraw(live: LiveJob, move: Move) -> None:
    """Cancel a job where it is, unless it has ended there, and have all of it removed.

    One that has started goes only where its place was lost. UnavailableError: try again.
    """
    if live.record.started and not (move.abandons or move.has_ended):
        raise ConflictError("it has started")
    if not move.has_ended:
        is_gone = move.anew  # with what it ran on
        await _cancel(live, is_awaited=move.abandons and not is_gone)
    elif live.backend.schedules and move.to.backend == live.record.backend:
        await _cancel(live, is_awaited=False)  # its name has to be free when it begins again
    backend, handle = live.backend, live.record.handle_data
    if not isinstance(backend, KeepsOutput) or not live.record.started:
        await backend.delete(handle)
        return
    output = backend.output(handle)
    await asyncio.to_thread(set_aside, output)
    await backend.delete(handle)
    await asyncio.to_thread(put_back, output)
    if not move.anew:
        status, now = attempts_so_far(live.record), live.now()
        await asyncio.to_thread(keep_attempts, output.parent, status, now)


async def _cancel(live: LiveJob, *, is_awaited: bool) -> None:
    try:
        await live.backend.cancel(live.record.handle_data)
    except TrainwayError as error:
        if isinstance(error, UnavailableError) and not isinstance(error, AgentStartError):
            raise  # something of it may be there
        log.info("job %s is withdrawn: %s", live.id, error)
        return
    if is_awaited:
        await _ended(live)


async def _ended(live: LiveJob) -> None:
    """Wait until its journal says that it has ended, or has no more to say."""
    try:
        async with asyncio.timeout(_END_S):
            async for update in live.backend.watch(
                live.record.handle_data, live.record.journal_seq
            ):
                if any(record.get("type") == "end" for record in update.records):
                    return
    except TimeoutError:
        raise UnavailableError("it has not ended there yet") from None
