"""Fires schedules: what is due is written down first, then submitted, once for each moment.

All that a schedule knows is in the store, so the next server goes on where this one was killed. A
moment that is due is stored before anything is submitted for it, and its job has a key that follows
from the moment, so none is lost and none comes twice. What is due is decided from the clock alone
(`schedule/rules.py`), whichever way that was put.
"""

import asyncio
import json
import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final

from trainway.engine.rounds import Rounds
from trainway.engine.schedule.context import ScheduleContext
from trainway.engine.schedule.copies import ScheduleCopies
from trainway.engine.schedule.firing import Firing, due_at, submit_due
from trainway.engine.schedule.record import (
    NewSchedule,
    ScheduleRecord,
    check_name,
    moment_text,
    read_submission,
    stored_submission,
)
from trainway.engine.schedule.rehearsal import rehearse
from trainway.engine.schedule.submitting import Submitting
from trainway.engine.schedule.view import schedule_view
from trainway.engine.submission import Submission, at_places, name_of, parted
from trainway.engine.times import time_text
from trainway.errors import (
    ConflictError,
    DatabaseError,
    NotFoundError,
    UnavailableError,
    UsageError,
)
from trainway.json_types import Json
from trainway.schedule.cron import parse_cron
from trainway.schedule.moments import next_moment, zone_of
from trainway.schedule.rules import CatchUp, Overlap, due, next_due, waiting
from trainway.schema.validation import closest

log = logging.getLogger(__name__)

MOST_SCHEDULES: Final = 1000
_LOOK_S: Final = 30.0
"""After so long the clock is looked at again: it may have been put, or the machine slept."""
_AGAIN_S: Final = 5.0
"""After so long it is tried again what could not be done."""


class Schedules:
    """The schedules of one server."""

    def __init__(self, around: ScheduleContext) -> None:
        self._around = around
        self._ledger = around.ledger
        self._store = around.ledger.store.schedules
        self._records: dict[str, ScheduleRecord] = {}
        """By name."""
        self._following: dict[str, datetime | None] = {}
        self._problems: dict[str, str] = {}
        """Why what is due could not be submitted, by id."""
        self._rounds = Rounds(self._play)
        self._submitting = Submitting(partial(submit_due, around.submits), self.look)
        self._firing = Firing(around, self._submitting)
        self.copies = ScheduleCopies(around.ledger)
        self._timer: asyncio.TimerHandle | None = None
        self._pens: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        """By name; held while a schedule is fired or changed."""

    @property
    def is_idle(self) -> bool:
        """Whether none will ever fire."""
        return all(record.is_paused and not record.moments for record in self._records.values())

    async def start(self) -> None:
        """Go on with what a former server has left."""
        stored = await self._ledger.call(self._store.all)
        found = await self.copies.found(stored, time_text(self._around.clock()))
        self._records = {record.name: record for record in found}
        self.look()

    async def close(self) -> None:
        """Leave all of them to the next server."""
        if self._timer is not None:
            self._timer.cancel()
        await self._rounds.close()
        await self._submitting.close()

    def look(self) -> "asyncio.Future[None] | None":
        """See what is due; what is given is done when that was done."""
        return self._rounds.request() if self._records else None

    def job_ended(self) -> None:
        """A job is over: a schedule may have waited for that."""
        if any(record.moments for record in self._records.values()):
            self.look()

    async def create(self, new: NewSchedule, key: str = "") -> tuple[Json, list[str]]:
        """Keep a new one, once for its key; the schedule, and what its owner should know."""
        submission = new.submission
        name = check_name(new.name or name_of(submission))
        cron, zone = parse_cron(new.cron), zone_of(new.zone)
        record = self._record(new, name, key)
        first = next_moment(cron, zone, record.decided)
        if first is None:
            raise UsageError(f"{new.cron!r} never happens", field="cron")
        made = self._made_before(name, key)
        warnings = [] if made else await self._rehearsed(submission, record, moment_text(first))
        async with self._pens[name]:
            made = self._made_before(name, key)
            if made is not None:
                return self._view(made), []
            adding = self._ledger.call(self._store.add, record, stored_submission(submission))
            await self._ledger.settled(adding, partial(self._store.has, record.id))
            self._records[name] = record
            await self.copies.keep(record)
        self.look()
        return self._view(record), warnings

    def _record(self, new: NewSchedule, name: str, key: str) -> ScheduleRecord:
        now, submission = time_text(self._around.clock()), new.submission
        return ScheduleRecord(
            id=self._around.ids.new(),
            name=name,
            cron=new.cron,
            zone=new.zone,
            catch_up=new.catch_up,
            overlap=new.overlap,
            is_paused=new.is_paused,
            backend=",".join(each.backend for each in at_places(submission)),
            kind=str((parted(submission.objects)[0] or {}).get("kind", "")),
            created=now,
            until=now,
            request_key=key or None,
        )

    async def _rehearsed(
        self, submission: Submission, record: ScheduleRecord, moment: str
    ) -> list[str]:
        """What the owner of a schedule should know; raises why its jobs could not be submitted."""
        submits = self._around.submits
        wanted = due_at(submission, record, moment, submits.registry)
        return await rehearse(submits, wanted, name_of(submission) or record.name)

    def _made_before(self, name: str, key: str) -> ScheduleRecord | None:
        """What the same request has made; a ConflictError where it was another one."""
        before = self._records.get(name)
        if before is None and len(self._records) >= MOST_SCHEDULES:
            raise ConflictError(f"a server has {MOST_SCHEDULES} schedules at most")
        if before is None or (key and before.request_key == key):
            return before
        hint = f"choose another --name, or trainway schedule delete {name} first"
        raise ConflictError(f"there is a schedule {name} already", hint=hint)

    def all(self) -> list[Json]:
        """All of them, by name."""
        return [self._view(self._records[name]) for name in sorted(self._records)]

    async def get(self, name: str) -> Json:
        """One, with what it submits."""
        record = self._found(name)
        text = await self._ledger.call(self._store.submission, record.id)
        return self._view(record, list(read_submission(text).objects))

    async def pause(self, name: str) -> Json:
        """Let nothing be due until it is resumed; jobs go on."""
        async with self._pen_of(name):
            record = self._found(name)
            if not record.is_paused:
                record = await self._keep(replace(record, is_paused=True, waiting="[]"))
                await self.copies.keep(record)
        return self._view(record)

    async def resume(self, name: str) -> Json:
        """Let it fire again; what would have been due meanwhile was not missed."""
        async with self._pen_of(name):
            record = self._found(name)
            if record.is_paused:
                now = time_text(self._around.clock())
                record = await self._keep(replace(record, is_paused=False, until=now))
                await self.copies.keep(record)
        self.look()
        return self._view(record)

    async def delete(self, name: str) -> Json:
        """Forget one; its jobs stay."""
        async with self._pen_of(name):
            record = self._found(name)
            await self.copies.remove(record.id)
            await self._ledger.call(self._store.remove, record.id)
            del self._records[name]
            self._problems.pop(record.id, None)
            self._following.pop(record.id, None)
        return self._view(record)

    def _pen_of(self, name: str) -> asyncio.Lock:
        return self._pens[self._found(name).name]  # a name that is none gets no pen

    def _found(self, name: str) -> ScheduleRecord:
        if name in self._records:
            return self._records[name]
        meant = closest(name, list(self._records))
        asked = f'; did you mean "{meant}"?' if meant else ""
        hint = "trainway schedule list shows them all"
        raise NotFoundError(f"there is no schedule {name[:80]!r}{asked}", hint=hint)

    def _view(self, record: ScheduleRecord, objects: Sequence[Json] | None = None) -> Json:
        now, problem = self._around.clock(), self._problems.get(record.id)
        try:
            coming = next_due(record.parsed, record.wall, record.decided, now)
        except UsageError as error:
            coming, problem = None, error.sentence
        active = [job.id for job in self._firing.active(record)]
        return schedule_view(record, coming, problem, active, objects)

    async def _keep(self, record: ScheduleRecord) -> ScheduleRecord:
        await self._ledger.call(self._store.change, record)
        self._records[record.name] = record
        self._following.pop(record.id, None)
        return record

    async def _play(self) -> None:
        self._set_timer(_AGAIN_S)  # also if this fails in the middle
        done = [self._carry_on(name) for name in self._records]  # none waits for another's place
        pauses = await asyncio.gather(*done, return_exceptions=True)
        for failure in pauses:
            if isinstance(failure, BaseException):
                raise failure
        self._set_timer(min([_LOOK_S, *(pause for pause in pauses if isinstance(pause, float))]))

    def _set_timer(self, pause: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(pause, self.look)

    async def _carry_on(self, name: str) -> float:
        """Do what is due for one; when to look at it again, in seconds."""
        async with self._pens[name]:
            record = self._records.get(name)
            if record is None or record.is_paused:
                return _LOOK_S
            try:
                record = await self._decided(record)
            except UsageError as error:  # its time zone was removed from this machine
                if self._problems.get(record.id) != error.sentence:
                    log.warning("the schedule %s waits: %s", record.name, error.sentence)
                self._problems[record.id] = error.sentence
                return _LOOK_S
            return await self._fired(record)

    async def _fired(self, record: ScheduleRecord) -> float:
        """Submit for the moments that wait; when to look again."""
        try:
            while record.moments:
                outcome = await self._firing.fire(record, record.moments[0])
                if outcome is None:
                    return _LOOK_S  # it is looked at when a job has ended
                self._problems.pop(record.id, None)
                left = json.dumps(record.moments[1:])
                record = await self._keep(replace(record, waiting=left, outcome=outcome))
        except (DatabaseError, UnavailableError) as error:
            if self._problems.get(record.id) != str(error):  # it is tried again soon
                log.warning("the schedule %s waits: %s", record.name, error)
            self._problems[record.id] = str(error)
            return _AGAIN_S
        following = self._following.get(record.id)
        if following is None:
            return 0.0 if record.id not in self._following else _LOOK_S
        return max((following - self._around.clock()).total_seconds(), 0.0)

    async def _decided(self, record: ScheduleRecord) -> ScheduleRecord:
        """The schedule with all moments written down that are due."""
        now = self._around.clock()
        rules = CatchUp(record.catch_up), Overlap(record.overlap)
        found, following = due(record.parsed, record.wall, rules[0], record.decided, now)
        if found.fire or found.until < record.decided:
            new = [moment_text(moment) for moment in found.fire]
            left = json.dumps(waiting(*rules, record.moments, new))
            record = await self._keep(replace(record, until=time_text(found.until), waiting=left))
        self._following[record.id] = following
        return record
