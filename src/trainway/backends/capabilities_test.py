import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from trainway.backends import capabilities
from trainway.backends.base import Backend, Capacity
from trainway.backends.testing import FakeBackend
from trainway.errors import ConflictError


class Core:
    """The least that a backend can be; what it runs is no matter here."""

    name = "moon/crater"
    schedules = True
    network = plan = submit = watch = cancel = delete = NotImplemented


CORE: Backend = Core()


@dataclass(frozen=True)
class Case:
    name: str
    ask: Callable[[Backend], object]
    instead: object


CASES = [
    Case("places", capabilities.places, ["moon/crater"]),
    Case("check", capabilities.check, []),
    Case("features", capabilities.features, {}),
    Case("capacity", capabilities.capacity, Capacity()),
    Case("warm up", capabilities.warm_up, None),
    Case("namespace", lambda backend: capabilities.namespace(backend, "ml"), ""),
    Case("runtime", lambda backend: capabilities.runtime(backend, "TrainingRuntime", "a"), None),
    Case("most pods", capabilities.most_pods, None),
    Case("release", lambda backend: capabilities.release(backend, 1), None),
    Case("lost network", lambda backend: capabilities.has_lost_network(backend, {}), False),
    Case("problems", lambda backend: capabilities.problems(backend, {}, {}), ([], [])),
    Case("strays", lambda backend: capabilities.strays(backend, list), []),
    Case("recover", lambda backend: asyncio.run(capabilities.recover(backend, {})), False),
    Case("look", lambda backend: asyncio.run(capabilities.look(backend)), None),
    Case("survey", lambda backend: asyncio.run(capabilities.survey(backend)), None),
    Case("adopt", lambda backend: asyncio.run(capabilities.adopt(backend, {})), None),
    Case("close", lambda backend: asyncio.run(capabilities.close(backend)), None),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_counts_where_a_capability_is_missing(case: Case) -> None:
    assert case.ask(CORE) == case.instead


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (capabilities.keeping_logs, "keeps no logs"),
        (capabilities.keeping_output, "keeps no files of jobs"),
        (capabilities.holding, "holds no clusters"),
        (capabilities.suspending, "cannot suspend jobs"),
    ],
)
def test_what_a_user_asks_for_in_vain_is_refused_in_words(
    ask: Callable[[Backend], object], said: str
) -> None:
    with pytest.raises(ConflictError, match=f"the backend moon/crater {said}"):
        ask(CORE)


def test_a_backend_has_what_it_implements() -> None:
    backend = FakeBackend()
    assert capabilities.suspending(backend) is backend
    assert capabilities.capacity(backend) == backend.total
    assert not isinstance(backend, capabilities.Remote)
