"""A real PostgreSQL, of the machine, private and gone afterwards: for tests and benchmarks."""

import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sqlalchemy import URL, create_engine, text
from sqlalchemy.exc import OperationalError

USER: Final = "postgres"
LIMIT_S: Final = 60.0
INITIALISATION: Final = ("-U", USER, "-A", "trust", "--no-sync")
SETTINGS: Final = ("-c", "listen_addresses=", "-c", "fsync=off")


@dataclass(frozen=True)
class PostgreSql:
    """A server that listens on a unix socket in a folder."""

    folder: Path
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def url(self, database: str = USER) -> str:
        """The URL of a database."""
        query = {"host": str(self.folder)}
        url = URL.create("postgresql+psycopg", USER, database=database, query=query)
        return url.render_as_string()

    def new_database(self) -> str:
        """The URL of a database that is empty."""
        name = f"test_{next(self._numbers)}"
        engine = create_engine(self.url(), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name}"))
        engine.dispose()
        return self.url(name)

    def wait(self, process: "subprocess.Popen[bytes]") -> None:
        """Wait until it takes connections."""
        engine = create_engine(self.url())
        deadline = time.monotonic() + LIMIT_S
        while True:
            try:
                engine.connect().close()
            except OperationalError:
                assert process.poll() is None, (self.folder / "log").read_text()
                assert time.monotonic() < deadline, "PostgreSQL does not answer"
                time.sleep(0.05)
            else:
                engine.dispose()
                return


class UnavailableError(Exception):
    """There is no PostgreSQL on this machine, or nothing to speak to it with."""


@contextmanager
def running_postgresql() -> Iterator[PostgreSql]:
    """A server for a while."""
    programs = _programs()
    with tempfile.TemporaryDirectory(prefix="trainway-postgresql-") as name:
        folder = Path(name)
        data = folder / "data"
        prefix: list[str] = ["setpriv", "--pdeathsig", "KILL"]
        if os.geteuid() == 0:  # which PostgreSQL refuses to be
            shutil.chown(folder, USER)
            prefix += ["--reuid", USER, "--regid", USER, "--clear-groups"]
        made = [*prefix, str(programs / "initdb"), "-D", str(data), *INITIALISATION]
        subprocess.run(made, check=True, capture_output=True, timeout=LIMIT_S)  # noqa: S603 - PostgreSQL's own
        served = [*prefix, str(programs / "postgres"), "-D", str(data), "-k", str(folder)]
        server = PostgreSql(folder)
        with (
            (folder / "log").open("wb") as log,
            subprocess.Popen([*served, *SETTINGS], stdout=log, stderr=log) as process,  # noqa: S603 - as above
        ):
            try:
                server.wait(process)
                yield server
            finally:
                process.send_signal(signal.SIGINT)  # by which it does not wait for its clients
                process.wait(LIMIT_S)


def _programs() -> Path:
    """Where PostgreSQL's programs are; Debian keeps those of each version apart."""
    try:
        import psycopg  # noqa: F401, PLC0415 - may be missing
    except ImportError as error:
        raise UnavailableError(str(error)) from error
    folders = [*map(Path, os.get_exec_path()), *Path("/usr/lib/postgresql").glob("*/bin")]
    found = [folder for folder in folders if (folder / "initdb").exists()]
    if not found:
        raise UnavailableError("PostgreSQL: not found (Debian: postgresql)")
    return (found[0] / "initdb").resolve().parent
