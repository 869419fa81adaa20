from dataclasses import dataclass
from typing import Any

import pytest

from trainway.operator.webhooks.json_patch import json_patch


@dataclass(frozen=True)
class Case:
    name: str
    before: Any
    after: Any
    patch: list[dict[str, Any]]


CASES = [
    Case("same", {"a": [1, {"b": 2}]}, {"a": [1, {"b": 2}]}, []),
    Case("added", {}, {"a": {"b": 1}}, [{"op": "add", "path": "/a", "value": {"b": 1}}]),
    Case("removed", {"a": 1}, {}, [{"op": "remove", "path": "/a"}]),
    Case("replaced", {"a": 1}, {"a": 2}, [{"op": "replace", "path": "/a", "value": 2}]),
    Case("type", {"a": 1}, {"a": True}, [{"op": "replace", "path": "/a", "value": True}]),
    Case(
        "in a list",
        {"a": [{"b": 1}, {}]},
        {"a": [{"b": 1}, {"c": 2}]},
        [{"op": "add", "path": "/a/1/c", "value": 2}],
    ),
    Case(
        "longer list", {"a": [1]}, {"a": [1, 2]}, [{"op": "replace", "path": "/a", "value": [1, 2]}]
    ),
    Case("escaped", {}, {"a/b~c": 1}, [{"op": "add", "path": "/a~1b~0c", "value": 1}]),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_patch_leads_from_one_to_the_other(case: Case) -> None:
    assert json_patch(case.before, case.after) == case.patch
