from dataclasses import dataclass

import pytest

from trainway.data.patterns import Patterns


@dataclass(frozen=True)
class Case:
    name: str
    include: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    is_meant: bool = True


@pytest.mark.parametrize(
    "case",
    [
        Case("a.json"),
        Case("d/a.json", include=("*.json",)),
        Case("a.bin", include=("*.json",), is_meant=False),
        Case("a.bin", include=("*.json", "*.bin")),
        Case("a.bin", include=("*.bin",), ignore=("a*",), is_meant=False),
        Case("d/a", ignore=("d/",), is_meant=False),
        Case("dd/a", ignore=("d/",)),
        Case("A.JSON", ignore=("*.json",)),
    ],
    ids=str,
)
def test_patterns_say_which_files_are_meant(case: Case) -> None:
    assert Patterns(case.include, case.ignore).match(case.name) is case.is_meant
