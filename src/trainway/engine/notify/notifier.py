"""Tells targets what happens to jobs: beside the jobs, again until it arrives, and never twice.

Never twice but for a server that is killed between a delivery and the note that it was made. A
database that fails in between is waited for. Each target is told one thing after the other, and one
where nobody answers holds up no other.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final, TypeVar

from trainway.engine.background import Background
from trainway.engine.backoff import Backoff
from trainway.engine.ledger import Ledger
from trainway.engine.notify.delivery import DeliveryError, deliver
from trainway.engine.notify.occasions import notice_of, occasions
from trainway.engine.notify.outbox import LONGEST_PAUSE_S, NewNotice, StoredNotice
from trainway.engine.record import Event, JobRecord
from trainway.engine.times import time_text
from trainway.errors import DatabaseError, NotFoundError, UsageError
from trainway.json_types import Json
from trainway.notify.message import TEST, HttpRequest, Notice, request
from trainway.notify.targets import Occasion, Target, is_url, target_of, url_error
from trainway.telemetry.log_subject import job_fields

log = logging.getLogger(__name__)

FAILED: Final = "NotificationFailed"
"""The reason of the event that says so."""
_AT_ONCE: Final = 8
"""So many targets are told at a time."""
_MOST: Final = 100
"""So many notices are read at a time."""
_GRACE_S: Final = 1.0
"""So long a server that ends waits for what is being delivered."""
_MOST_ATTEMPTS: Final = 20
"""With these pauses, about an hour."""
_MOST_TARGETS: Final = 10
"""That one job may bring along."""

_T = TypeVar("_T")


@dataclass(frozen=True)
class Notifying:
    """Who is told, and how."""

    targets: Callable[[], Sequence[Target]]
    """Those of the settings, as they are now."""
    send: Callable[[HttpRequest], None] = deliver
    first_pause_s: float = 1.0
    """Before the second attempt; the pauses double."""


NOBODY: Final = Notifying(lambda: ())


class Notifier:
    """Everybody who wants to hear of jobs."""

    def __init__(
        self,
        ledger: Ledger,
        clock: Callable[[], datetime],
        notifying: Notifying,
    ) -> None:
        self._ledger = ledger
        self._clock = clock
        self._notifying = notifying
        self._configured = notifying.targets
        self._news = asyncio.Event()
        self._threads = ThreadPoolExecutor(_AT_ONCE, "notify")
        self._background = Background()
        self._lines: dict[str, asyncio.Task[None]] = {}
        """Who is being told something, by name."""
        self._is_closing = False
        self.is_idle = True
        """Whether there is nothing left to deliver."""

    def start(self) -> None:
        """Deliver what an earlier server has left, and then whatever comes."""
        self.wake()
        self._background.spawn(self._run())

    async def close(self) -> None:
        """Leave what is not delivered to the next server."""
        self._is_closing = True
        if self._lines:
            await asyncio.wait(self._lines.values(), timeout=_GRACE_S)
        await self._background.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def wake(self) -> None:
        """There may be something to deliver."""
        self.is_idle = False
        self._news.set()

    def check(self, names: Iterable[str]) -> list[str]:
        """The targets that a job names, refused unless all of them exist."""
        checked = list(dict.fromkeys(names))
        if not checked:
            return []
        known = {target.name for target in self._configured()}
        for name in checked:
            wrong = url_error(name) if is_url(name) else ""
            if wrong:
                raise UsageError(f"the URL {wrong}", field="options.notify")
            if not is_url(name) and name not in known:
                raise UsageError(
                    f"there is no target {name!r} to notify",
                    field="options.notify",
                    hint=_known(known),
                )
        if len(checked) > _MOST_TARGETS:
            raise UsageError(
                f"a job can notify {_MOST_TARGETS} targets at most", field="options.notify"
            )
        return checked

    def notices(self, before: JobRecord, after: JobRecord) -> list[NewNotice]:
        """What is to be told of a change that is being written, and to whom."""
        happened = occasions(before, after)
        if not happened:
            return []
        targets = {target.name: target for target in self._configured()}
        asked = set(after.notify_targets)
        now = self._clock()
        found = [
            NewNotice(name, notice_of(after, occasion, time_text(now)), now.timestamp())
            for occasion in happened
            for name in (*targets, *sorted(asked - targets.keys()))
            if name in asked or occasion in targets[name].occasions
        ]
        if found:
            # Whoever asks writes them before the store is read, since one thread does both.
            self.wake()
        return found

    def announced(self, detail: str) -> list[NewNotice]:
        """What is to be told of a budget, which is that of no single job, and to whom."""
        now = self._clock()
        notice = Notice(str(Occasion.BUDGET), time_text(now), {}, detail)
        targets = [each for each in self._configured() if Occasion.BUDGET in each.occasions]
        if targets:
            self.wake()
        return [NewNotice(each.name, notice, now.timestamp()) for each in targets]

    def targets(self) -> list[Json]:
        """The targets of the settings as anybody may see them."""
        return [
            {"name": each.name, "format": each.form, "events": sorted(each.occasions)}
            for each in self._configured()
        ]

    async def test(self, name: str = "") -> list[Json]:
        """Send a test to one target, or to all of the settings; what became of each."""
        if name:
            self.check([name])
        configured = self._configured()
        chosen = [self._target(name)] if name else configured
        found = [target for target in chosen if target is not None]
        if not found:
            raise NotFoundError("no target is configured", hint=_known(()))
        notice = Notice(TEST, time_text(self._clock()), {})
        return await asyncio.gather(*(self._tested(target, notice) for target in found))

    async def _tested(self, target: Target, notice: Notice) -> Json:
        try:
            await self._deliver(target, notice)
        except DeliveryError as error:
            return {"target": target.shown, "ok": False, "detail": str(error)}
        return {"target": target.shown, "ok": True, "detail": ""}

    async def _run(self) -> None:
        while True:
            self._news.clear()
            pause = await self._written(self._begin)
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._news.wait()

    async def _begin(self) -> float | None:
        """Begin to tell whoever is due; the seconds until somebody is, None: nobody yet."""
        now = self._clock().timestamp()
        while not self._is_closing and len(self._lines) < _AT_ONCE:
            found = await self._ledger.call(self._ledger.store.outbox.first, tuple(self._lines))
            if found is None:
                if not self._lines and not self._news.is_set():
                    self.is_idle = True
                return None
            if not found.is_due(now):
                return found.due - now
            self._lines[found.target] = self._background.spawn(self._line(found.target))
        return None  # one of them is done first

    async def _line(self, name: str) -> None:
        """Tell one target all that is due, one after the other."""
        try:
            while not self._is_closing and (found := await self._written(partial(self._due, name))):
                await self._tell(found)
        except Exception:  # else it would be begun again at once, and for ever
            log.exception("notices are delivered later")
            await asyncio.sleep(LONGEST_PAUSE_S)
        finally:
            del self._lines[name]
            self._news.set()

    def _due(self, name: str) -> "asyncio.Future[list[StoredNotice]]":
        now = self._clock().timestamp()
        return self._ledger.call(self._ledger.store.outbox.due, name, now, _MOST)

    async def _tell(self, found: Sequence[StoredNotice]) -> None:
        """Deliver what is for one target; if nobody answers there, all of it is for later."""
        remove = self._ledger.store.outbox.remove
        for place, stored in enumerate(found):
            if self._is_closing:
                return
            target = self._target(stored.target)
            try:
                if target is None:
                    raise DeliveryError("the settings do not have it any more", is_final=True)
                await self._deliver(target, stored.notice)
            except DeliveryError as error:
                for failed in found[place:] if error.is_silent else [stored]:
                    await self._written(partial(self._failed, failed, target, error))
                if error.is_silent:
                    return
            else:
                await self._written(partial(self._ledger.call, remove, stored))

    async def _written(self, write: Callable[[], Awaitable[_T]]) -> _T:
        """Do something with the store, as soon as that can be done."""
        backoff = Backoff()
        while True:
            try:
                return await write()
            except DatabaseError as error:
                log.warning("notices are delivered later: %s", error)
                await backoff.wait()

    async def _failed(
        self, stored: StoredNotice, target: Target | None, error: DeliveryError
    ) -> None:
        """Write down that a notice did not arrive: it is tried again, or given up."""
        outbox, attempts = self._ledger.store.outbox, stored.attempts + 1
        if not error.is_final and attempts < _MOST_ATTEMPTS:
            pause = min(self._notifying.first_pause_s * 2.0**stored.attempts, LONGEST_PAUSE_S)
            due = self._clock().timestamp() + pause
            await self._ledger.call(outbox.postpone, stored, attempts, due)
            return
        await self._give_up(stored, target, str(error))
        await self._ledger.call(outbox.remove, stored)

    async def _give_up(self, stored: StoredNotice, target: Target | None, why: str) -> None:
        """Say with the job that somebody has not been told."""
        who = stored.target if target is None else target.shown
        message = f"{who} was not told that the job {stored.notice.event}: {why}"
        name = str(stored.notice.job.get("name") or "")
        log.warning("job %s: %s", stored.job_id, message, extra=job_fields(stored.job_id, name))
        if await self._ledger.call(self._ledger.store.has, stored.job_id):
            place = f"job/{stored.notice.job.get('name')}"
            event = Event(time_text(self._clock()), "Warning", FAILED, message, place)
            await self._ledger.write(stored.job_id, {}, [event])

    async def _deliver(self, target: Target, notice: Notice) -> None:
        loop = asyncio.get_running_loop()
        try:
            asked = request(target, notice)
            await loop.run_in_executor(self._threads, self._notifying.send, asked)
        except DeliveryError:
            raise
        except Exception as error:  # one that cannot be sent must not hold up all others
            log.exception("a notice cannot be delivered")
            said = f"an error of the server ({type(error).__name__}), which its log has"
            raise DeliveryError(said, is_final=True) from error

    def _target(self, name: str) -> Target | None:
        if is_url(name):
            return target_of(name)
        return next((each for each in self._configured() if each.name == name), None)


def _known(names: Iterable[str]) -> str:
    there = ", ".join(sorted(names))
    listed = f"config.yaml has {there}; " if there else ""
    return f"{listed}add a target to the section notify of config.yaml, or give a URL"
