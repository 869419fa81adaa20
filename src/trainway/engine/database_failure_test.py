import errno
import sqlite3
from dataclasses import dataclass

import pytest
from sqlalchemy.exc import OperationalError

from trainway.engine.database_failure import DamagedError, Failure, database_error, failure_of


class PostgresError(Exception):
    def __init__(self, sqlstate: str) -> None:
        super().__init__("what PostgreSQL says\nand more of it")
        self.sqlstate = sqlstate


def sqlite(name: str) -> sqlite3.Error:
    error = sqlite3.OperationalError("what SQLite says")
    error.sqlite_errorname = name
    return error


@dataclass(frozen=True)
class Case:
    name: str
    error: Exception
    failure: Failure


CASES = [
    Case("locked", sqlite("SQLITE_BUSY"), Failure.LOCKED),
    Case("locked by a snapshot", sqlite("SQLITE_BUSY_SNAPSHOT"), Failure.LOCKED),
    Case("full", sqlite("SQLITE_FULL"), Failure.FULL),
    Case("no room for shared memory", sqlite("SQLITE_IOERR_SHMSIZE"), Failure.FULL),
    Case("disk", sqlite("SQLITE_IOERR_WRITE"), Failure.IO),
    Case("malformed", sqlite("SQLITE_CORRUPT"), Failure.DAMAGED),
    Case("a malformed index", sqlite("SQLITE_CORRUPT_INDEX"), Failure.DAMAGED),
    Case("no database", sqlite("SQLITE_NOTADB"), Failure.DAMAGED),
    Case("read-only", sqlite("SQLITE_READONLY"), Failure.FORBIDDEN),
    Case("cannot be opened", sqlite("SQLITE_CANTOPEN"), Failure.FORBIDDEN),
    Case("anything else", sqlite("SQLITE_TOOBIG"), Failure.OTHER),
    Case("no space", OSError(errno.ENOSPC, "No space left on device"), Failure.FULL),
    Case("no quota", OSError(errno.EDQUOT, "Disk quota exceeded"), Failure.FULL),
    Case("input and output", OSError(errno.EIO, "Input/output error"), Failure.IO),
    Case("permission", OSError(errno.EACCES, "Permission denied"), Failure.FORBIDDEN),
    Case("PostgreSQL is full", PostgresError("53100"), Failure.FULL),
    Case("PostgreSQL has a lock", PostgresError("55P03"), Failure.LOCKED),
    Case("PostgreSQL stops", PostgresError("57P01"), Failure.LOST),
    Case("PostgreSQL cannot read", PostgresError("58030"), Failure.IO),
    Case("PostgreSQL is damaged", PostgresError("XX001"), Failure.DAMAGED),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_why_it_fails(case: Case) -> None:
    wrapped = OperationalError("COMMIT", {}, case.error)
    assert failure_of(case.error) is failure_of(wrapped) is case.failure
    shown = database_error(wrapped, "/x/trainway.db")
    assert "/x/trainway.db" in shown.message
    assert "\n" not in shown.message
    assert shown.hint
    assert (shown.code, shown.http_status) == ("database", 503)
    assert isinstance(shown, DamagedError) is (case.failure is Failure.DAMAGED)


def test_a_real_error_of_sqlite_has_its_reason() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("PRAGMA max_page_count = 1")
    with pytest.raises(sqlite3.OperationalError) as caught:
        connection.execute("CREATE TABLE x (y)")
    connection.close()
    assert failure_of(caught.value) is Failure.FULL
