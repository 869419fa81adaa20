"""Looks after budgets: warns when little is left, and ends what runs when nothing is.

What is to be done is decided by what is stored, and written down in the transaction that does it:
the warning with its event and its notices, the end of a job with its cause. So a server that is
killed at any moment is followed by one that does the rest, and nothing twice.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import Final

from trainway.engine.background import Background
from trainway.engine.costs.account import root_of
from trainway.engine.costs.accounts import Accounts, Charge, job_pieces
from trainway.engine.costs.budget import (
    WARNING,
    Budget,
    JobBudget,
    Standing,
    hours_left,
    money,
    standing,
)
from trainway.engine.costs.cluster_budgets import ClusterBudgets, SpendingClusters, Tell
from trainway.engine.costs.cost import Piece, total
from trainway.engine.costs.rate import rates_of
from trainway.engine.costs.run_budgets import RunBudgets, ended
from trainway.engine.costs.spent_job import MonthlySum, SpentJob
from trainway.engine.ledger import Ledger
from trainway.engine.live import LiveJob
from trainway.engine.queues.months import month_of, month_start
from trainway.engine.record import Event, JobRecord
from trainway.engine.run.record import RunRecord
from trainway.engine.stored_job import Change
from trainway.engine.times import time_text
from trainway.errors import ConflictError, DatabaseError, NotFoundError
from trainway.jobset.labels import ACCOUNT
from trainway.json_types import Json

log = logging.getLogger(__name__)

_LONGEST_S: Final = 15.0
"""The longest pause between two looks: a job that begins may spend a budget sooner."""
_SHORTEST_S: Final = 0.25
_PATIENCE_S: Final = 5.0


class Budgets:
    """The budgets of all jobs and clusters, and those of months."""

    def __init__(
        self,
        ledger: Ledger,
        clock: Callable[[], datetime],
        live: Mapping[str, LiveJob],
        tell: Tell,
        clusters: SpendingClusters,
    ) -> None:
        self._ledger = ledger
        self._store = ledger.store.costs
        self._clock = clock
        self._live = live
        self._tell = tell
        self._clusters = ClusterBudgets(clock, clusters, tell, self._end_jobs_of)
        self.accounts = Accounts(ledger, clock, live, clusters)
        self._runs = RunBudgets(ledger, live, lambda: time_text(clock()), tell)
        self._charges: Mapping[str, Charge] = {}
        """How accounts stood at the last look."""
        self._budgets: dict[str, Budget] = {}
        self._ended = MonthlySum()
        self._news = asyncio.Event()
        self._background = Background()
        self._turn = asyncio.Lock()
        self._is_doubtful = False
        """Whether a write has failed that may have been stored all the same."""

    async def start(self) -> None:
        """Take up what an earlier server knew, and do what it did not come to do."""
        await self._read()
        await self._runs.start()
        self._ledger.observers.append(self)
        self._ledger.forgotten.append(self._cluster_gone)
        if self._budgets:
            await self._add_up()
        self._background.spawn(self._watch())

    async def close(self) -> None:
        """Look after them no more."""
        await self._background.close()
        await self._clusters.close()

    # What is told of jobs and clusters.

    def _cluster_gone(self, spent: SpentJob) -> None:
        """One that is forgotten is stored with what it had cost."""
        self._ended.add(spent.job_id, spent.label_map, spent.pieces, self._clock())
        self.accounts.note(spent.job_id, spent.label_map, spent.pieces)

    def created(self, record: JobRecord) -> None:
        """A new job costs nothing yet."""

    def changed(self, before: JobRecord, after: JobRecord) -> None:
        """A job that has ended costs nothing more; one that has begun may spend a budget."""
        if after.is_over and not before.is_over and after.rates:
            self._over(after)
        if after.rates != before.rates:
            self._news.set()

    def gone(self, record: JobRecord) -> None:
        """One that is forgotten while it runs is stored with what it had cost."""
        if record.rates:
            self._over(record)

    def _over(self, record: JobRecord) -> None:
        self._ended.add(record.id, record.label_map, self._pieces(record), self._clock())
        self.accounts.note(record.id, record.label_map, self._pieces(record))

    def took_up(self, run: RunRecord | None) -> None:
        """There are new jobs, which may be of a run."""
        self._runs.add(run)
        self._news.set()

    # What people do.

    async def put(self, name: str, subject: str, monthly: Decimal) -> Json:
        """Make a budget, or change one; what it says is looked at anew."""
        created = time_text(self._clock())
        async with self._turn:
            budget = Budget(name, subject, str(monthly), created)
            known = self._budgets.get(name)
            if known is not None and (known.subject, known.limit) == (subject, monthly):
                return self._view(known)
            await self._write(partial(self._store.put_budget, budget))
            if not self._budgets:
                await self._add_up()
            self._budgets[name] = budget
        self._news.set()
        return self._view(budget)

    async def delete(self, name: str) -> Json:
        """Forget one."""
        async with self._turn:
            found = self._budgets.get(name)
            if found is None:
                raise NotFoundError(
                    f"there is no budget {name!r}", hint="trainway budgets list shows them all"
                )
            await self._write(partial(self._store.delete_budget, name))
            del self._budgets[name]
        return self._view(found)

    def views(self) -> list[Json]:
        """All of them as they stand."""
        return [self._view(each) for _, each in sorted(self._budgets.items())]

    def admit(self, labels: Mapping[str, str]) -> None:
        """Refuse a new job for which no money is left."""
        self._runs.admit(labels)
        month = month_of(self._clock().timestamp())
        for budget in self._budgets.values():
            if budget.covers(labels) and budget.spent_up == month:
                raise ConflictError(
                    f"{budget.told(self.spent(budget))}, so nothing new begins",
                    hint=f"raise it with trainway budgets set {budget.name}, or wait for the next"
                    " month",
                )

    def spent(self, budget: Budget) -> Decimal:
        """What jobs and clusters have cost in this month that spend a budget."""
        now = self._clock()
        begin = _month_begin(now)
        running = sum(
            (total(self._pieces(each.record, each.observation.runs), begin).spent
             for each in self._covered(budget)), start=Decimal(0),
        )  # fmt: skip
        return self._ended.of(budget, now) + running + self._clusters.spent(budget, begin)

    # What follows.

    async def look(self) -> float:
        """Do what is due; the seconds until something may be."""
        pause = _LONGEST_S
        async with self._turn:
            if self._is_doubtful:
                await self._read()
            for budget in list(self._budgets.values()):
                pause = min(pause, await self._look_at(budget))
            limited = [
                live
                for live in self._live.values()
                if live.record.budget and not live.record.is_over
            ]
            await self._add_accounts_up(limited)
            pause = min(pause, _seconds(await self._runs.look(self._charges)))
        for live in limited:
            pause = min(pause, await self._look_at_job(live))
        return min(pause, _seconds(await self._clusters.look()))

    async def _add_accounts_up(self, limited: Sequence[LiveJob]) -> None:
        """How the accounts stand of jobs and runs that have a budget."""
        await self._runs.refresh()
        own = {live.record.label_map.get(ACCOUNT, "") for live in limited}
        await self.accounts.follow({*map(root_of, own), *self._runs.accounts} - {""})
        self._charges = self.accounts.now()

    async def _look_at(self, budget: Budget) -> float:
        month = month_of(self._clock().timestamp())
        spent = self.spent(budget)
        after = budget.now(month, spent)
        if after != budget:
            await self._note(budget, after, budget.told(spent))
        if after.spent_up == month:
            why = f"{budget.told(spent)}, so it was ended"
            for live in self._covered(budget):
                await live.insist(partial(ended, live, why))
            self._clusters.end(budget, why)
        rates = (rates_of(live.record.rates) for live in self._covered(budget))
        hourly = sum(
            (each[-1].hourly for each in rates if each), start=self._clusters.hourly(budget)
        )
        return _seconds(hours_left(spent, budget.limit, hourly))

    async def _note(self, before: Budget, after: Budget, said: str) -> None:
        """Write how a budget stands now, and tell those who should know."""
        log.warning("%s", said)
        is_new = after.warned != before.warned or after.spent_up > before.spent_up
        events: dict[str, Event] = {}
        if after.warned != before.warned:
            lives = self._covered(before)
            events = {live.id: live.event(WARNING, said, kind="Warning") for live in lives}
        notices = self._tell(said) if is_new else ()
        await self._write(partial(self._store.note_budget, after, notices, events))
        self._budgets[after.name] = after
        for job_id in events:
            self._ledger.changes.notify(job_id)

    async def _look_at_job(self, live: LiveJob) -> float:
        await live.insist(partial(self._due, live))
        budget, charge = JobBudget.of(live.record.budget), self._charge(live)
        if budget is None or live.record.is_over:
            return _LONGEST_S
        return _seconds(hours_left(charge.spent, budget.limit, charge.hourly))

    def _due(self, live: LiveJob) -> Change | None:
        """What the budget of one job changes now."""
        budget = JobBudget.of(live.record.budget)
        if budget is None:
            return None
        spent = self._charge(live).spent
        found = standing(spent, budget.limit)
        said = f"it has cost {money(spent)} of {money(budget.limit)}"
        if found is Standing.SPENT:
            return ended(live, f"{said}, which is all that it may")
        if found is Standing.NEAR and not budget.warned:
            column = JobBudget(budget.limit, live.now()).text()
            return Change({"budget": column}, [live.event(WARNING, said, kind="Warning")])
        return None

    def _charge(self, live: LiveJob) -> Charge:
        """What a job has cost, with the machines that are rented for it."""
        account = live.record.label_map.get(ACCOUNT, "")
        if account:
            return self._charges.get(account, Charge())
        rates = rates_of(live.record.rates)
        cost = total(self._pieces(live.record, live.observation.runs))
        return Charge(cost, rates[-1].hourly if rates else Decimal(0))

    async def _watch(self) -> None:
        while True:
            self._news.clear()
            try:
                pause = await self.look()
            except DatabaseError as error:
                log.warning("budgets are looked at later: %s", error)
                pause = _PATIENCE_S
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._news.wait()
            await asyncio.sleep(_SHORTEST_S)  # many jobs may begin at once

    async def _read(self) -> None:
        """Take up what is stored."""
        self._budgets = {each.name: each for each in await self._ledger.call(self._store.budgets)}
        self._is_doubtful = False

    async def _write(self, write: Callable[[], None]) -> None:
        """Write; where that fails, what is stored counts, and is read before the next decision."""
        try:
            await self._ledger.call(write)
        except DatabaseError:
            self._is_doubtful = True
            self._news.set()
            raise

    async def _add_up(self) -> None:
        """What jobs have cost in this month that are over, whether deleted or not."""
        now = self._clock()
        since = time_text(_month_begin(now))
        self._ended = MonthlySum()
        for job in await self._ledger.call(self._store.ended, since):
            self._ended.add(job.job_id, job.label_map, job.pieces, now)

    async def _end_jobs_of(self, backend: str, why: str) -> None:
        """End all jobs of a cluster that is to go, and wait for them."""
        jobs = [live for live in self._live.values() if live.record.backend == backend]
        for live in jobs:
            await live.insist(partial(ended, live, why))
        await asyncio.gather(*(live.over.wait() for live in jobs))

    def _covered(self, budget: Budget) -> list[LiveJob]:
        return [live for live in self._live.values() if budget.covers(live.record.label_map)]

    def _pieces(self, record: JobRecord, runs: Iterable[Json] | None = None) -> list[Piece]:
        return job_pieces(record, self._clock(), runs)

    def _view(self, budget: Budget) -> Json:
        return budget.view(month_of(self._clock().timestamp()), self.spent(budget))


def _seconds(hours: Decimal | None) -> float:
    return _LONGEST_S if hours is None else min(float(hours) * 3600, _LONGEST_S)


def _month_begin(now: datetime) -> datetime:
    return datetime.fromtimestamp(month_start(now.timestamp()), UTC)
