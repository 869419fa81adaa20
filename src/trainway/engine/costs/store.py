"""What deleted jobs had cost, and budgets, in the database."""

import json
from dataclasses import asdict, fields
from datetime import UTC, datetime

from sqlalchemy import Connection, Engine, delete, insert, select, update

from trainway.engine.costs.budget import Budget
from trainway.engine.costs.spent_job import SpentJob
from trainway.engine.database import transaction
from trainway.engine.notify import outbox
from trainway.engine.notify.outbox import NewNotice
from trainway.engine.observation import RUNS
from trainway.engine.tables import BUDGETS, JOBS, SPENT
from trainway.engine.times import time_text

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

    def note_budget(self, budget: Budget, notices: list[NewNotice]) -> None:
        """Write how a budget stands together with what is to be told of it, both or neither."""
        state = {"warned": budget.warned, "spent_up": budget.spent_up}
        with transaction(self._engine) as connection:
            query = update(BUDGETS).where(BUDGETS.c.name == budget.name).values(state)
            if connection.execute(query).rowcount:
                outbox.append(connection, "", notices)

    def delete_budget(self, name: str) -> None:
        """Forget a budget."""
        with transaction(self._engine) as connection:
            connection.execute(delete(BUDGETS).where(BUDGETS.c.name == name))


def keep_spent(connection: Connection, job_id: str) -> None:
    """Keep what a job had cost that is being deleted, where it had cost anything."""
    columns = [JOBS.c[name] for name in (*_KEPT, "observed")]
    row = connection.execute(select(*columns).where(JOBS.c.id == job_id)).mappings().first()
    if row is None or not row["rates"]:
        return
    observed = json.loads(row["observed"]) if row["observed"] else {}
    kept = {name: row[name] for name in _KEPT}
    kept["finished"] = kept["finished"] or time_text(datetime.now(UTC))  # it is abandoned now
    runs = json.dumps(observed.get(RUNS) or [])
    connection.execute(delete(SPENT).where(SPENT.c.job_id == job_id))
    connection.execute(insert(SPENT).values(job_id=job_id, runs=runs, **kept))
