"""The ledger of what is rented, beside the clusters that it is rented for."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from typing import Any, Final

from sqlalchemy import Engine, delete, insert, select

from trainway.engine.database import transaction
from trainway.engine.record import storable
from trainway.engine.rental.record import Attempt, Rental, RentalState, RentedMachine
from trainway.engine.tables import RENTALS

_ALL: Final = [RENTALS.c[field.name] for field in fields(Rental)]
_MOST_ENDED: Final = 1000
"""How many that are over somebody may see at once."""


class RentalStore:
    """The rentals. Every method is one transaction."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def living(self) -> list[Rental]:
        """All that have not ended, oldest first."""
        query = select(*_ALL).where(RENTALS.c.state != RentalState.ENDED).order_by(RENTALS.c.token)
        with self._engine.connect() as connection:
            return [_rental(row._asdict()) for row in connection.execute(query)]

    def ended(self, since: str = "") -> list[Rental]:
        """Those that ran and have ended since then, newest first."""
        is_over = (RENTALS.c.state == RentalState.ENDED) & (RENTALS.c.changed >= since)
        query = select(*_ALL).where(is_over).order_by(RENTALS.c.token.desc()).limit(_MOST_ENDED)
        with self._engine.connect() as connection:
            return [_rental(row._asdict()) for row in connection.execute(query)]

    def of_cluster(self, cluster: str, since: str) -> list[Rental]:
        """All of a cluster that were asked for since then, also what has ended, oldest first."""
        is_meant = (RENTALS.c.cluster == cluster) & (RENTALS.c.created >= since)
        query = select(*_ALL).where(is_meant).order_by(RENTALS.c.token)
        with self._engine.connect() as connection:
            return [_rental(row._asdict()) for row in connection.execute(query)]

    def change(self, put: Sequence[Rental], forget: Iterable[str] = ()) -> None:
        """Write rows as they are now, and forget others, all or nothing."""
        gone = [*forget, *(rental.token for rental in put)]
        with transaction(self._engine) as connection:
            connection.execute(delete(RENTALS).where(RENTALS.c.token.in_(gone)))
            if put:
                connection.execute(insert(RENTALS), [_row(rental) for rental in put])


def _row(rental: Rental) -> dict[str, Any]:
    row = {field.name: storable(getattr(rental, field.name)) for field in fields(rental)}
    row["machines"] = json.dumps([asdict(each) for each in rental.machines])
    row["history"] = json.dumps([asdict(each) for each in rental.history])
    return row


def _machine(kept: dict[str, Any]) -> RentedMachine:
    kept["before"] = tuple((start, end) for start, end in kept.get("before", ()))
    return RentedMachine(**kept)


def _rental(row: dict[str, Any]) -> Rental:
    row["state"] = RentalState(row["state"])
    row["machines"] = tuple(map(_machine, json.loads(row["machines"])))
    row["history"] = tuple(Attempt(**each) for each in json.loads(row["history"]))
    return Rental(**row)
