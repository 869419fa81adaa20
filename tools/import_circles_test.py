"""No module of ours imports itself through others, whether when it runs or for the type checker.

import-linter proves the layers, but within one of them files may still need each other in a circle;
then neither can be read, tested or moved without the other.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

import grimp
import pytest

from quick_tests import ROOT


def circle_in(imports: Mapping[str, AbstractSet[str]]) -> list[str]:
    """Modules of which each imports the next, and the last is the first; empty: there are none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


@dataclass(frozen=True)
class Case:
    id: str
    imports: dict[str, set[str]]
    circle: list[str]


CASES = [
    Case("none", {"a": {"b", "c"}, "b": {"c"}}, []),
    Case("two", {"a": {"b"}, "b": {"a"}}, ["a", "b"]),
    Case("three", {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}}, ["a", "b", "c"]),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_circle_is_found(case: Case) -> None:
    found = circle_in(case.imports)
    assert sorted(set(found)) == case.circle
    assert all(after in case.imports[before] for before, after in pairwise(found))


def test_no_file_imports_itself_through_others() -> None:
    graph = grimp.build_graph("trainway", cache_dir=str(ROOT / ".venv" / "grimp"))
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    assert circle_in(imports) == []
