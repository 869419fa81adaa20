import asyncio
from pathlib import Path

import pytest

from trainway.backends.base import Backend, BackendSettings
from trainway.backends.pod_access import Verb, place, verbs
from trainway.backends.registry import Registry
from trainway.errors import ConflictError
from trainway.families.builtin import BUILTIN
from trainway.json_types import Json


class Core:
    """The least that a backend can be; what it runs is no matter here."""

    name = "moon/crater"
    schedules = True
    network = plan = submit = watch = cancel = delete = NotImplemented


class WithShells(Core):
    async def shell_place(self, handle: Json, role: str | None, rank: int | None) -> Json:
        return {"job": handle["id"], "role": role, "rank": rank}


def asked(backend: Backend, verb: Verb) -> Json:
    return asyncio.run(place(backend, verb, {"id": "x"}, "node", 1))


@pytest.mark.parametrize("verb", list(Verb))
def test_the_verb_that_is_missing_is_named(verb: Verb) -> None:
    backend: Backend = Core()
    with pytest.raises(ConflictError) as caught:
        asked(backend, verb)
    said = f"the backend moon/crater does not support trainway jobs {verb}"
    assert caught.value.message == said
    assert caught.value.hint == "trainway jobs logs shows what the job writes"


def test_each_verb_is_declared_by_itself() -> None:
    backend: Backend = WithShells()
    assert verbs(backend) == [Verb.SHELL]
    assert asked(backend, Verb.SHELL) == {"job": "x", "role": "node", "rank": 1}
    with pytest.raises(ConflictError) as caught:
        asked(backend, Verb.EXEC)
    assert caught.value.hint == "it supports trainway jobs shell"


@pytest.mark.parametrize("name", list(BUILTIN))
def test_all_of_ours_have_every_verb(name: str, tmp_path: Path) -> None:
    assert verbs(Registry(BackendSettings(tmp_path)).get(name)) == list(Verb)
