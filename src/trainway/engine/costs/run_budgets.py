"""What all jobs of a run may cost together: `run --max-cost` with `--grid` and its like.

When all is spent, the jobs of the run end: those that wait first, so that none of them begins in
the place of one that ends. A search then tries no more, since new jobs are refused. That a run was
ended is written before its jobs are: a server that is killed in between ends the rest.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Final

from trainway.engine.costs.account import root_of
from trainway.engine.costs.accounts import Charge
from trainway.engine.costs.budget import (
    EXCEEDED,
    WARNING,
    JobBudget,
    Standing,
    hours_left,
    money,
    standing,
)
from trainway.engine.costs.cluster_budgets import Tell
from trainway.engine.ledger import Ledger
from trainway.engine.live import LiveJob
from trainway.engine.phases import Phase
from trainway.engine.run.record import RunRecord
from trainway.engine.stored_job import Change
from trainway.engine.wishes import BUDGET, ENDING
from trainway.errors import ConflictError
from trainway.jobset.labels import ACCOUNT

log = logging.getLogger(__name__)

AGAIN: Final = "trainway runs rerun NAME runs all of it again, with the same limit"


class RunBudgets:
    """The budgets of runs that are not over."""

    def __init__(
        self, ledger: Ledger, live: Mapping[str, LiveJob], now: Callable[[], str], tell: Tell
    ) -> None:
        self._ledger = ledger
        self._live = live
        self._now = now
        self._tell = tell
        self._runs: dict[str, RunRecord] = {}
        """By their accounts."""
        self._stale: set[str] = set()
        """Runs that are new here, by their ids: what is stored of them is not known yet."""

    @property
    def accounts(self) -> list[str]:
        """Whose costs count."""
        return list(self._runs)

    async def start(self) -> None:
        """Take up those that an earlier server knew."""
        self._keep(await self._ledger.call(self._ledger.store.runs.budgeted))

    def add(self, run: RunRecord | None) -> None:
        """A run has new jobs."""
        if run is not None and run.budget is not None:
            self._stale.add(run.id)

    def admit(self, labels: Mapping[str, str]) -> None:
        """Refuse a new job, or new machines, of a run of which all is spent."""
        run = self._runs.get(root_of(labels.get(ACCOUNT, "")))
        if run is not None:
            refuse_spent(run)

    async def refresh(self) -> None:
        """Forget runs whose jobs are over, and read what is new."""
        there = {live.record.run for live in self._live.values()}
        self._runs = {
            account: run for account, run in self._runs.items() if run.id in there or run.search
        }
        stale = list(self._stale)
        if stale:
            self._keep(await self._ledger.call(self._ledger.store.runs.budgeted, stale))
            self._stale.difference_update(stale)

    async def look(self, charges: Mapping[str, Charge]) -> Decimal | None:
        """Do what is due; the hours until one may stand otherwise."""
        left = []
        for account, run in list(self._runs.items()):
            left.append(await self._look_at(run, charges.get(account, Charge())))
        return min((hours for hours in left if hours is not None), default=None)

    async def _look_at(self, run: RunRecord, charge: Charge) -> Decimal | None:
        budget = JobBudget.of(run.budget)
        if budget is None:
            return None
        found = standing(charge.spent, budget.limit)
        said = f"run {run.name} has cost {money(charge.spent)} of {money(budget.limit)}"
        if found is Standing.SPENT:
            said += ", which is all that it may"
            if not budget.ended:
                after = replace(budget, warned=budget.warned or self._now(), ended=self._now())
                await self._note(run, after, said)
            await self._end(run, said)
        elif found is Standing.NEAR and not budget.warned:
            await self._note(run, replace(budget, warned=self._now()), said)
        return hours_left(charge.spent, budget.limit, charge.hourly)

    async def _note(self, run: RunRecord, after: JobBudget, said: str) -> None:
        log.warning("%s", said)
        events = {}
        if not after.ended:
            events = {live.id: live.event(WARNING, said, kind="Warning") for live in self._of(run)}
        write = self._ledger.store.costs.note_run_budget
        await self._ledger.call(write, run.id, after.text(), self._tell(said), events)
        self._runs[after.account] = replace(run, budget=after.text())
        for job_id in {run.id, *events}:
            self._ledger.changes.notify(job_id)

    async def _end(self, run: RunRecord, why: str) -> None:
        for live in sorted(self._of(run), key=lambda live: live.has_begun):
            await live.insist(partial(ended, live, why))

    def _of(self, run: RunRecord) -> list[LiveJob]:
        """Its jobs, and those that set up its machines."""
        account = (JobBudget.of(run.budget) or JobBudget(Decimal(0))).account
        return [
            live
            for live in self._live.values()
            if ACCOUNT in live.record.labels and root_of(live.record.label_map[ACCOUNT]) == account
        ]

    def _keep(self, runs: list[RunRecord]) -> None:
        for run in runs:
            budget = JobBudget.of(run.budget)
            if budget is not None and budget.account:
                self._runs[budget.account] = run


def refuse_spent(run: RunRecord) -> None:
    """Raise for a run of which all is spent."""
    budget = JobBudget.of(run.budget)
    if budget is not None and budget.ended:
        raise ConflictError(
            f"the run {run.name} has cost all of the {money(budget.limit)} that it may, so nothing"
            " of it begins any more",
            hint=AGAIN.replace("NAME", run.name),
        )


def ended(live: LiveJob, why: str) -> Change | None:
    """A job is to end for want of money; None: it does already."""
    record = live.record
    if record.is_over or record.wanted in ENDING:
        return None
    if not live.has_begun:
        return live.ending(Phase.FAILED, EXCEEDED, why)
    columns = {"wanted": BUDGET, "phase": Phase.STOPPING, "reason": EXCEEDED, "message": why}
    return Change(columns, [live.event(EXCEEDED, why, kind="Warning")])
