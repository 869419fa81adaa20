"""What is wrong with a database that fails, and what its owner can do about it. Pure.

SQLite and PostgreSQL have a code for each reason, and so has the operating system. Only what SQLite
itself calls malformed is damage; a database that is locked, or whose disk is full, is whole.
"""

import errno
import sqlite3
from enum import Enum
from typing import Final

from sqlalchemy.exc import DBAPIError

from trainway.errors import DatabaseError


class Failure(Enum):
    """Why a database fails, and what to do; `{place}` is the database."""

    LOCKED = (
        "the database {place} is locked by another program",
        "fuser {place} shows which one; try again when it has finished",
    )
    FULL = (
        "the disk of the database {place} is full",
        "free some space on that disk, then try again",
    )
    IO = (
        "the database {place} cannot be read or written: {reason}",
        "check its disk, then run trainway server check",
    )
    DAMAGED = (
        "the database {place} is damaged: {reason}",
        "run trainway server stop; the next command repairs it. trainway server check shows more",
    )
    FORBIDDEN = (
        "the database {place} cannot be used: {reason}",
        "check the owner and the permissions of the file and its directory",
    )
    LOST = (
        "the database {place} does not answer: {reason}",
        "check that its server is running, then try again",
    )
    OTHER = ("the database {place} cannot be used: {reason}", "trainway server check shows more")

    @property
    def message(self) -> str:
        """What is wrong, in a sentence."""
        return self.value[0]

    @property
    def hint(self) -> str:
        """What to do about it."""
        return self.value[1]


_SQLITE: Final = (
    ("SQLITE_BUSY", Failure.LOCKED),
    ("SQLITE_LOCKED", Failure.LOCKED),
    ("SQLITE_FULL", Failure.FULL),
    ("SQLITE_IOERR_SHMSIZE", Failure.FULL),
    ("SQLITE_IOERR_CORRUPTFS", Failure.IO),
    ("SQLITE_IOERR", Failure.IO),
    ("SQLITE_CORRUPT", Failure.DAMAGED),
    ("SQLITE_NOTADB", Failure.DAMAGED),
    ("SQLITE_READONLY", Failure.FORBIDDEN),
    ("SQLITE_CANTOPEN", Failure.FORBIDDEN),
    ("SQLITE_PERM", Failure.FORBIDDEN),
)
"""The beginnings of the names of SQLite's results; the first that fits counts."""
_POSTGRESQL: Final = (
    ("53100", Failure.FULL),
    ("53", Failure.LOST),
    ("55P03", Failure.LOCKED),
    ("57014", Failure.LOCKED),
    ("40", Failure.LOCKED),
    ("58", Failure.IO),
    ("XX001", Failure.DAMAGED),
    ("XX002", Failure.DAMAGED),
    ("25006", Failure.FORBIDDEN),
    ("42501", Failure.FORBIDDEN),
    ("28", Failure.FORBIDDEN),
    ("08", Failure.LOST),
    ("57P", Failure.LOST),
)
"""The beginnings of the states of SQL; the first that fits counts."""
_SYSTEM: Final = {
    errno.ENOSPC: Failure.FULL,
    errno.EDQUOT: Failure.FULL,
    errno.EACCES: Failure.FORBIDDEN,
    errno.EPERM: Failure.FORBIDDEN,
    errno.EROFS: Failure.FORBIDDEN,
}


class DamagedError(DatabaseError):
    """The database itself is damaged."""


class UncertainError(DatabaseError):
    """A write failed, and not even its outcome could be read."""


def failure_of(error: BaseException) -> Failure:
    """Why the database failed with that error."""
    cause = _cause(error)
    if isinstance(cause, sqlite3.Error):
        return _first(_SQLITE, getattr(cause, "sqlite_errorname", None) or "")
    if isinstance(cause, OSError):
        return _SYSTEM.get(cause.errno or 0, Failure.IO)
    state = getattr(cause, "sqlstate", None)
    if state is None and isinstance(error, DBAPIError) and error.connection_invalidated:
        return Failure.LOST
    if state is None and type(cause).__name__ == "OperationalError":
        return Failure.LOST  # PostgreSQL could not be asked at all
    return _first(_POSTGRESQL, state or "")


def database_error(error: BaseException, place: str) -> DatabaseError:
    """The error that a user sees."""
    failure = failure_of(error)
    cause = _cause(error)
    reason = cause.strerror if isinstance(cause, OSError) else str(cause).partition("\n")[0]
    said = {"place": place, "reason": reason or type(cause).__name__}
    kind = DamagedError if failure is Failure.DAMAGED else DatabaseError
    return kind(failure.message.format(**said), hint=failure.hint.format(**said))


def uncertain(error: DatabaseError) -> UncertainError:
    """The same error, where it is not known what became of the write."""
    text = f"{error.message}; it is not known whether the change was made"
    return UncertainError(text, hint=error.hint)


def _cause(error: BaseException) -> BaseException:
    found: BaseException | None = getattr(error, "orig", None)
    return error if found is None else found


def _first(table: tuple[tuple[str, Failure], ...], code: str) -> Failure:
    return next((failure for start, failure in table if code.startswith(start)), Failure.OTHER)
