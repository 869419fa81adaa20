"""An API server for the tests of this folder."""

from collections.abc import Iterator

import pytest

from trainway.training.testing import ApiServer, serving


@pytest.fixture
def api() -> Iterator[ApiServer]:
    with serving() as server:
        yield server
