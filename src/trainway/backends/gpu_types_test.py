import json
from dataclasses import dataclass
from typing import Any

import pytest

from trainway.backends.gpu_types import gpu_types
from trainway.jobset.labels import CANDIDATES


@dataclass(frozen=True)
class Case:
    name: str
    annotation: Any
    types: dict[str, int]


CASES = [
    Case("nobody says", None, {}),
    Case("of each pod", {"node": {"candidates": [{"accelerators": "H100:2"}]}}, {"H100": 6}),
    Case("the first that would do",
         {"node": {"candidates": [{"accelerators": ["A100:2", "H100:2"]}]}}, {"A100": 6}),
    Case("of another role", {"other": {"candidates": [{"accelerators": "H100:2"}]}}, {}),
    Case("none", {"node": {"candidates": [{}]}}, {}),
    Case("nonsense", {"node": []}, {}),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_types_of_gpus(case: Case) -> None:
    annotations = {} if case.annotation is None else {CANDIDATES: json.dumps(case.annotation)}
    container = {"name": "main", "resources": {"requests": {"nvidia.com/gpu": "2"}}}
    job = {"parallelism": 3, "completions": 3, "template": {"spec": {"containers": [container]}}}
    spec = {"replicatedJobs": [{"name": "node", "template": {"spec": job}}]}
    assert gpu_types({"metadata": {"annotations": annotations}, "spec": spec}) == case.types
