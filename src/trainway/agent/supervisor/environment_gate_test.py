from dataclasses import dataclass

import pytest

from trainway.agent.base.labels import ENVIRONMENT
from trainway.agent.base.plan import Plan
from trainway.agent.base.testing import container, jobset, role
from trainway.agent.supervisor.environment_gate import is_held, is_waited_for
from trainway.json_types import Json

JOB = {"version": 1, "id": "i", "name": "j", "jobset": jobset(role("node", container("m", "true")))}
PLAN = Plan({**JOB, "environment": {"requirements": "six", "without": ["fetches"]}})


def pod(
    state: str = "waiting", phase: str = "Pending", *, prepared: bool = False, maker: bool = True
) -> Json:
    making = {"name": ENVIRONMENT, "kind": "init", "state": "running", "restarts": 0}
    main = {"name": "main", "state": state, "restarts": 0}
    made: Json = {"phase": phase, "containers": [making, main] if maker else [main]}
    return {**made, "prepared": True} if prepared else made


@dataclass(frozen=True)
class Case:
    id: str
    record: Json
    is_held: bool = False
    is_waited_for: bool = False
    is_seen: bool = True
    role: str = "node"


@pytest.mark.parametrize(
    "case",
    [
        Case("makes it", pod(), is_waited_for=True),
        Case("is on its way", pod(maker=False), is_waited_for=True, is_seen=False),
        Case("has it", pod(prepared=True), is_held=True),
        Case("starts", pod("running", prepared=True)),
        Case("runs", pod("running", "Running", prepared=True)),
        Case("is over", pod("terminated", "Failed")),
        Case("its host knows better", pod(maker=False)),
        Case("its role needs none", pod(maker=False), is_seen=False, role="fetches"),
    ],
    ids=lambda case: case.id,
)
def test_who_waits_for_whom(case: Case) -> None:
    assert is_held(case.record) is case.is_held
    found = is_waited_for(case.record, PLAN, case.role, is_seen=case.is_seen)
    assert found is case.is_waited_for
    assert not is_waited_for(case.record, Plan(JOB), case.role, is_seen=case.is_seen)
