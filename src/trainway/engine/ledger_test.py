"""What waits for a database that another program keeps locked."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import Engine, text

from trainway.engine.database import open_database, transaction
from trainway.engine.ledger import Ledger
from trainway.engine.store import Store
from trainway.errors import DatabaseError

WAITS_MS = 300


def patience(engine: Engine) -> int:
    """How many milliseconds a transaction waits for another writer."""
    with transaction(engine) as connection:
        found: int = connection.execute(text("PRAGMA busy_timeout")).scalar_one()
    return found


def test_who_has_waited_for_a_lock_does_not_wait_for_it_again(tmp_path: Path) -> None:
    engine = open_database(f"sqlite:///{tmp_path}/trainway.db", WAITS_MS / 1000)
    ledger = Ledger(Store(engine))
    said: list[int] = []

    def write() -> None:
        with transaction(engine) as connection:
            said.append(connection.execute(text("PRAGMA busy_timeout")).scalar_one())
            connection.execute(text("DELETE FROM jobs"))

    async def scene() -> None:
        with closing(sqlite3.connect(tmp_path / "trainway.db", isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            waiting = [ledger.call(write) for _ in range(4)]
            read = ledger.call(ledger.store.ids)
            found = await asyncio.gather(*waiting, return_exceptions=True)
            assert all("is locked" in str(each) for each in found)
            assert all(isinstance(each, DatabaseError) for each in found)
            assert await read == []
            assert said[0] == WAITS_MS
            assert max(said[1:]) < WAITS_MS
            assert await ledger.call(patience, engine) == WAITS_MS  # who comes later
            other.execute("ROLLBACK")
        await ledger.call(write)

    asyncio.run(scene())
    ledger.close()
