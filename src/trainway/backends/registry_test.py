from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from trainway.backends import registry as module
from trainway.backends.base import BackendSettings
from trainway.backends.registry import BackendError, Registry
from trainway.errors import NotFoundError


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(BackendSettings(tmp_path))


def test_a_backend_is_made_once(registry: Registry) -> None:
    assert registry.get("local").name == "local"
    assert registry.get("local") is registry.get("local")


def test_an_unknown_name_is_answered_with_the_known_ones(registry: Registry) -> None:
    with pytest.raises(NotFoundError, match="no backend 'moon'") as caught:
        registry.get("moon")
    assert caught.value.hint == "there are: local"


def test_one_that_cannot_be_loaded_hurts_nobody_else(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = EntryPoint("moon", "no.such.module:Moon", module.ENTRY_POINT_GROUP)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_group: [broken])
    assert registry.names() == ["local", "moon"]
    with pytest.raises(BackendError, match="'moon' cannot be loaded"):
        registry.get("moon")
    assert registry.get("local").name == "local"
