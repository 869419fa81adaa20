"""What deleted jobs had cost, and budgets, in the database."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Update,
    and_,
    delete,
    insert,
    or_,
    select,
    update,
)

from trainway.engine import event_log
from trainway.engine.costs.budget import Budget
from trainway.engine.costs.spent_job import SpentJob
from trainway.engine.database import transaction
from trainway.engine.notify import outbox
from trainway.engine.notify.outbox import NewNotice
from trainway.engine.observation import RUNS
from trainway.engine.record import Event
from trainway.engine.tables import BUDGETS, JOBS, LABELS, SPENT
from trainway.engine.tables import RUNS as RUN_ROWS
from trainway.engine.times import time_text
from trainway.jobset.labels import ACCOUNT

_KEPT = ("name", "backend", "labels", "demand", "rates", "finished")


class CostStore:
    """Reads and writes them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def spent(self, after: str, limit: int) -> list[SpentJob]:
        """Deleted jobs that had cost something, by their ids, from an id on."""
        columns = [SPENT.c[each.name] for each in fields(SpentJob)]
        query = select(*columns).where(SPENT.c.job_id > after).order_by(SPENT.c.job_id)
        with self._engine.connect() as connection:
            return [SpentJob(*row) for row in connection.execute(query.limit(limit))]

    def ended(self, since: str) -> list[SpentJob]:
        """Jobs that cost something and have ended since a time, deleted ones among them."""
        there = (JOBS.c.rates.is_not(None), JOBS.c.finished >= since)
        return self._over(SPENT.c.finished >= since, and_(*there))

    def charged(self, account: str) -> list[SpentJob]:
        """Jobs and clusters that are over, or gone, and may be charged to an account of a run.

        Some may not be: what their labels say tells.
        """
        parts = or_(LABELS.c.value == account, LABELS.c.value.startswith(f"{account}."))
        ids = select(LABELS.c.job_id).where(LABELS.c.key == ACCOUNT, parts)
        there = (JOBS.c.rates.is_not(None), JOBS.c.finished != "", JOBS.c.id.in_(ids))
        return self._over(SPENT.c.labels.contains(f'"{account}', autoescape=True), and_(*there))

    def _over(self, gone: ColumnElement[bool], there: ColumnElement[bool]) -> list[SpentJob]:
        """What was deleted, and what is over and still there."""
        columns = [SPENT.c[each.name] for each in fields(SpentJob)]
        jobs = select(*(JOBS.c[name] for name in ("id", *_KEPT, "observed"))).where(there)
        with self._engine.connect() as connection:
            found = [SpentJob(*row) for row in connection.execute(select(*columns).where(gone))]
            for row in connection.execute(jobs).mappings():
                kept = {name: row[name] for name in _KEPT}
                found.append(SpentJob(job_id=row["id"], runs=_runs(row["observed"]), **kept))
        return found

    def budgets(self) -> list[Budget]:
        """All budgets of months, by their names."""
        columns = [BUDGETS.c[each.name] for each in fields(Budget)]
        with self._engine.connect() as connection:
            rows = connection.execute(select(*columns).order_by(BUDGETS.c.name))
            return [Budget(*row) for row in rows]

    def put_budget(self, budget: Budget) -> None:
        """Keep a budget in the place of one of its name."""
        with transaction(self._engine) as connection:
            connection.execute(delete(BUDGETS).where(BUDGETS.c.name == budget.name))
            connection.execute(insert(BUDGETS).values(asdict(budget)))

    def note_budget(
        self, budget: Budget, notices: Sequence[NewNotice], events: Mapping[str, Event]
    ) -> None:
        """Write how a budget stands together with what is told of it, of jobs too, or nothing."""
        state = {"warned": budget.warned, "spent_up": budget.spent_up}
        _note(
            *(self._engine, update(BUDGETS).where(BUDGETS.c.name == budget.name).values(state)),
            *(notices, events),
        )

    def note_run_budget(
        self, run_id: str, budget: str, notices: Sequence[NewNotice], events: Mapping[str, Event]
    ) -> None:
        """The same of the budget of a run."""
        query = update(RUN_ROWS).where(RUN_ROWS.c.id == run_id).values(budget=budget)
        _note(self._engine, query, notices, events)

    def delete_budget(self, name: str) -> None:
        """Forget a budget."""
        with transaction(self._engine) as connection:
            connection.execute(delete(BUDGETS).where(BUDGETS.c.name == name))


def _note(
    engine: Engine, query: Update, notices: Sequence[NewNotice], events: Mapping[str, Event]
) -> None:
    """Write how a budget stands, and what is told of it, if it is still there."""
    with transaction(engine) as connection:
        if connection.execute(query).rowcount:
            outbox.append(connection, "", notices)
            known = select(JOBS.c.id).where(JOBS.c.id.in_(list(events)))
            for job_id in list(connection.execute(known).scalars()):
                event_log.append(connection, job_id, [events[job_id]])


def keep_spent(connection: Connection, job_id: str) -> None:
    """Keep what a job had cost that is being deleted, where it had cost anything."""
    columns = [JOBS.c[name] for name in (*_KEPT, "observed")]
    row = connection.execute(select(*columns).where(JOBS.c.id == job_id)).mappings().first()
    if row is None or not row["rates"]:
        return
    kept = {name: row[name] for name in _KEPT}
    kept["finished"] = kept["finished"] or time_text(datetime.now(UTC))  # it is abandoned now
    runs = _runs(row["observed"])
    connection.execute(delete(SPENT).where(SPENT.c.job_id == job_id))
    connection.execute(insert(SPENT).values(job_id=job_id, runs=runs, **kept))


def _runs(observed: str) -> str:
    try:
        runs = json.loads(observed).get(RUNS) if observed else None
    except (AttributeError, ValueError):  # as of a job that could not be taken up
        runs = None
    return json.dumps(runs or [])
