import asyncio
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from trainway.backends import capabilities
from trainway.backends.base import Backend, BackendSettings
from trainway.backends.missing import MissingBackend
from trainway.backends.registry import Registry
from trainway.errors import NotFoundError, UnavailableError
from trainway.families.table import CLASSES, ROWS, BackendError


def _raising(_settings: BackendSettings) -> Backend:
    raise ValueError("it wants another Python")


@pytest.mark.parametrize(
    ("row", "group", "said"),
    [
        ("", "", "no package brings the backend 'moon/base'"),
        ("no.such.module:MOON", ROWS, "cannot be loaded: No module named"),
        ("no.such.module:Moon", CLASSES, "cannot be loaded: No module named"),
        (f"{__name__}:_raising", CLASSES, "cannot be loaded: it wants another Python"),
    ],
)
def test_a_job_of_a_family_that_is_not_there_has_a_stand_in_that_says_so(
    row: str, group: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def entries(group: str) -> list[EntryPoint]:
        return [found] if row and found.group == group else []

    found = EntryPoint("moon", row, group)
    monkeypatch.setattr("importlib.metadata.entry_points", entries)
    registry = Registry(BackendSettings(tmp_path))
    backend = registry.of_stored("moon/base", {})
    assert isinstance(backend, MissingBackend)
    assert said in backend.error.message
    with pytest.raises((BackendError, NotFoundError)):
        registry.of("moon/base", {})


CALLS: list[Callable[[MissingBackend], Any]] = [
    lambda backend: backend.submit(NotImplemented),
    lambda backend: anext(aiter(backend.watch({}, -1))),
    lambda backend: backend.cancel({}),
    lambda backend: backend.delete({}),
    lambda backend: capabilities.suspending(backend).suspend({}),
    lambda backend: capabilities.suspending(backend).resume({}),
]


@pytest.mark.parametrize("call", CALLS)
def test_it_does_nothing(call: Callable[[MissingBackend], Any]) -> None:
    async def ask() -> None:
        await call(MissingBackend("moon", NotFoundError("there is none")))

    with pytest.raises(UnavailableError, match="no package brings the backend 'moon'"):
        asyncio.run(ask())
