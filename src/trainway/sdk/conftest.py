"""What tests of the client share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from trainway.sdk.testing import FakeServer


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    """A server that answers as it is told, found as a user's is."""
    monkeypatch.setenv("TRAINWAY_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TRAINWAY_SERVER", raising=False)
    monkeypatch.chdir(tmp_path)
    with FakeServer(tmp_path / "home") as server:
        yield server
