from dataclasses import dataclass

import pytest

from trainway.agent.supervisor.environment_gate import has_begun, is_held, may_all_go
from trainway.json_types import Json


def pod(state: str = "waiting", phase: str = "Pending", *, prepared: bool = False) -> Json:
    making = {"name": "environment", "kind": "init", "state": "running", "restarts": 0}
    main = {"name": "main", "state": state, "restarts": 0}
    made: Json = {"phase": phase, "containers": [making, main]}
    return {**made, "prepared": True} if prepared else made


@dataclass(frozen=True)
class Case:
    id: str
    record: Json
    is_held: bool
    is_waited_for: bool


@pytest.mark.parametrize(
    "case",
    [
        Case("makes it", pod(), is_held=False, is_waited_for=True),
        Case("has it", pod(prepared=True), is_held=True, is_waited_for=False),
        Case("runs", pod("running", "Running", prepared=True), is_held=False, is_waited_for=False),
        Case("starts", pod("running", prepared=True), is_held=False, is_waited_for=False),
        Case("needs none", pod("running"), is_held=False, is_waited_for=False),
        Case("is over", pod("terminated", "Failed"), is_held=False, is_waited_for=False),
    ],
    ids=lambda case: case.id,
)
def test_who_waits_for_whom(case: Case) -> None:
    assert is_held(case.record) is case.is_held
    assert may_all_go([pod(prepared=True), case.record]) is not case.is_waited_for
    assert has_begun(case.record) is not (case.is_held or case.is_waited_for)
