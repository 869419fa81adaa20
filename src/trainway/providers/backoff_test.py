"""What is repeated, how often, and with which pauses."""

from dataclasses import dataclass

import pytest

from trainway.providers.backoff import pauses, repeated
from trainway.providers.errors import ProviderError, Scope, Trouble


@dataclass(frozen=True)
class Case:
    name: str
    troubles: tuple[Trouble, ...]
    calls: int
    works: bool


CASES = [
    Case("at once", (), 1, works=True),
    Case("throttled", (Trouble.THROTTLED,) * 5, 6, works=True),
    Case("throttled for long", (Trouble.THROTTLED,) * 9, 6, works=False),
    Case("silent", (Trouble.UNREACHABLE,) * 2, 3, works=True),
    Case("silent for long", (Trouble.UNREACHABLE,) * 9, 3, works=False),
    Case("no room", (Trouble.CAPACITY,), 1, works=False),
    Case("throttled, then no room", (Trouble.THROTTLED, Trouble.CAPACITY), 2, works=False),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_only_what_passes_is_repeated(case: Case) -> None:
    calls = 0

    def call() -> str:
        nonlocal calls
        calls += 1
        if calls <= len(case.troubles):
            raise ProviderError("no", trouble=case.troubles[calls - 1], scope=Scope.NONE)
        return "done"

    waited: list[float] = []
    if case.works:
        assert repeated(call, waited.append) == "done"
    else:
        with pytest.raises(ProviderError):
            repeated(call, waited.append)
    assert calls == case.calls
    assert len(waited) == calls - 1


def test_pauses_grow_and_differ() -> None:
    assert list(pauses(Trouble.THROTTLED, lambda: 1.0)) == [0.5, 1.0, 2.0, 4.0, 8.0]
    assert list(pauses(Trouble.THROTTLED, lambda: 0.0)) == [0.25, 0.5, 1.0, 2.0, 4.0]
    assert list(pauses(Trouble.QUOTA)) == []


def test_what_must_not_be_done_twice_is_not_repeated_in_the_dark() -> None:
    calls: list[Trouble] = []

    def call() -> None:
        trouble = Trouble.UNREACHABLE if calls else Trouble.THROTTLED
        calls.append(trouble)
        raise ProviderError("no", trouble=trouble, scope=Scope.NONE)

    with pytest.raises(ProviderError):
        repeated(call, lambda _: None, once=True)
    assert calls == [Trouble.THROTTLED, Trouble.UNREACHABLE]
