"""Servers for the tests of this folder."""

import json
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from trainway.server.testing import RunningServer, Starts

CAPACITY = json.dumps({"cpu": "4", "memory": "8Gi", "gpus": 2})


@pytest.fixture
def starts() -> Iterator[Starts]:
    """Starts servers that are cleaned up after the test, however it ends."""
    with ExitStack() as stack:
        yield stack.enter_context


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """One for all tests of a module, on a machine of four CPUs and two GPUs."""
    home = tmp_path_factory.mktemp("home")
    options = ("--idle-seconds", "0")  # tests of other servers may take longer than it stays
    with RunningServer(home, *options, env={"TRAINWAY_LOCAL_CAPACITY": CAPACITY}) as running:
        yield running
