from dataclasses import dataclass

import pytest

from trainway.json_types import Json
from trainway.operator.runtimes import FINALIZER, finalizer_patch


@dataclass(frozen=True)
class Case:
    name: str
    finalizers: list[str] | None
    expected: list[str] | None
    is_patched: bool = True


CASES = [
    Case("ours alone", [FINALIZER], None),
    Case("ours and others", ["a/b", FINALIZER, "c/d"], ["a/b", "c/d"]),
    Case("others", ["a/b"], None, is_patched=False),
    Case("none", None, None, is_patched=False),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_only_the_leftover_finalizer_is_removed(case: Case) -> None:
    metadata: Json = {"name": "r", "resourceVersion": "7"}
    if case.finalizers is not None:
        metadata["finalizers"] = case.finalizers
    patch = finalizer_patch({"metadata": metadata})
    expected = {"metadata": {"resourceVersion": "7", "finalizers": case.expected}}
    assert patch == (expected if case.is_patched else None)
