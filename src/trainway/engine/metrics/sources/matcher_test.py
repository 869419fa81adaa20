import asyncio
from collections.abc import Mapping, Sequence

import pytest

from trainway.engine.metrics.sources.matcher import Matcher, SlowPatternError


def numbers(pattern: str, lines: Sequence[str]) -> list[Mapping[str, float]]:
    async def scene() -> list[Mapping[str, float]]:
        matcher = Matcher(pattern)
        try:
            return await matcher.numbers(lines)
        finally:
            await matcher.close()

    return asyncio.run(scene())


def test_the_default_pattern() -> None:
    assert numbers("", ["loss: 1", "", "loss=2"]) == [{"loss": 1}, {}, {"loss": 2}]


def test_groups_are_series() -> None:
    pattern = r"at (?P<step>\d+): (?P<loss>\S+)(?: (?P<acc>\S+))?"
    lines = ["at 3: 0.5", "at 4: 0.25 0.9", "at 5: low", "nothing"] * 60
    found = numbers(pattern, lines)
    some = [{"step": 3, "loss": 0.5}, {"step": 4, "loss": 0.25, "acc": 0.9}, {"step": 5}, {}]
    assert found == some * 60


def test_groups_of_name_and_value() -> None:
    found = numbers(r"(?P<name>\w+) is (?P<value>[\d.]+)", ["a is 1, b is 2.5, ü is 3"])
    assert found == [{"a": 1, "b": 2.5, "ü": 3}]


def test_a_pattern_without_end_is_ended() -> None:
    with pytest.raises(SlowPatternError) as caught:
        numbers(r"(?P<x>(\w+)+)#", ["short", "a" * 4096])
    assert caught.value.line == "a" * 80
