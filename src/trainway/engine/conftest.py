"""A real PostgreSQL for the tests of the store."""

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from trainway.engine.postgresql_testing import PostgreSql, UnavailableError, running_postgresql


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSql]:
    """The server, started by the first test that needs it."""
    try:
        with running_postgresql() as server:
            yield server
    except UnavailableError as error:
        _unavailable(str(error))


@pytest.fixture(params=["sqlite", "postgresql"])
def new_database(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Gives URLs of databases that are empty; a test that uses it runs once for each kind."""
    if request.param == "postgresql":
        server: PostgreSql = request.getfixturevalue("postgresql")
        return server.new_database
    numbers = itertools.count(1)
    return lambda: f"sqlite:///{tmp_path}/{next(numbers)}.db"


def _unavailable(reason: str) -> NoReturn:
    """Skip the test; in CI fail it."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"cannot be had: {reason}")
    pytest.skip(f"cannot be had: {reason}")
