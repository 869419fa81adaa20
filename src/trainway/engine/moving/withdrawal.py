"""Takes a job back from a place that cannot hand it over; it begins anew at another one.

When it returns, nothing of the job runs at the place, and the place knows nothing of it any more.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from trainway.backends.agents.jobdir import JobDir
from trainway.backends.base import AgentStartError, Update
from trainway.backends.capabilities import KeepsOutput
from trainway.engine.live import LiveJob
from trainway.engine.moving.kept_attempts import attempts_so_far, keep_attempts
from trainway.engine.moving.kept_output import put_back, set_aside
from trainway.engine.moving.move import Move
from trainway.errors import ConflictError, TrainwayError, UnavailableError
from trainway.jobset.status import moment

log = logging.getLogger(__name__)

_END_S: Final = 60.0
"""How long the end of a job is waited for before it is asked for again."""


class WorkDoneError(ConflictError):
    """It has done all of its work, just before it was told to end."""

    def __init__(self, updates: Sequence[Update]) -> None:
        super().__init__("it has done all of its work")
        self.updates = updates
        """What its journal says that nobody has taken in."""


async def withdraw(live: LiveJob, move: Move) -> None:
    """Cancel a job where it is, unless it has ended there, and have all of it removed.

    One that has started goes only where its place was lost. UnavailableError: try again.
    """
    if live.record.started and not (move.abandons or move.has_ended):
        raise ConflictError("it has started")
    if not move.has_ended:
        await _cancel(live, _patience_s(live, move))
    elif live.backend.schedules and move.to.backend == live.record.backend:
        await _cancel(live, 0.0)  # its name has to be free when it begins again
    backend, handle = live.backend, live.record.handle_data
    if not isinstance(backend, KeepsOutput) or not live.record.started:
        await backend.delete(handle)
        return
    output = backend.output(handle)
    counts_on = not move.anew or bool(move.taken)
    # Logs are named by their attempts, so those of one that begins with the first would be mixed.
    kept = [output, *([JobDir(output.parent).logs] if counts_on else [])]
    for folder in kept:
        await asyncio.to_thread(set_aside, folder)
    await backend.delete(handle)
    for folder in kept:
        await asyncio.to_thread(put_back, folder)
    if counts_on:
        status, now = attempts_so_far(live.record), live.now()
        await asyncio.to_thread(keep_attempts, output.parent, status, now)


def _patience_s(live: LiveJob, move: Move) -> float:
    """How long the end of a job is waited for; 0: it is not."""
    if move.until:  # its machines are there for so long, and its processes have their grace period
        left = (moment(move.until) - moment(live.now())).total_seconds()
        return min(max(left, 0.0), _END_S)
    is_gone = move.anew  # with what it ran on
    return _END_S if move.abandons and not is_gone else 0.0


async def _cancel(live: LiveJob, patience_s: float) -> None:
    """Have a job end where it is, and wait for so long until it has."""
    try:
        await live.backend.cancel(live.record.handle_data)
    except TrainwayError as error:
        if isinstance(error, UnavailableError) and not isinstance(error, AgentStartError):
            raise  # something of it may be there
        log.info("job %s is withdrawn: %s", live.id, error)
        return
    if patience_s:
        await _ended(live, patience_s)


async def _ended(live: LiveJob, patience_s: float) -> None:
    """Wait until its journal says that it has ended, or has no more to say."""
    handle, seq = live.record.handle_data, live.record.journal_seq
    updates: list[Update] = []
    try:
        async with asyncio.timeout(patience_s):
            async for update in live.backend.watch(handle, seq):
                updates.append(update)
                ends = [each for each in update.records if each.get("type") == "end"]
                if any(each.get("succeeded") for each in ends):
                    raise WorkDoneError(updates)
                if ends:
                    return
    except TimeoutError:
        raise UnavailableError("it has not ended there yet") from None
