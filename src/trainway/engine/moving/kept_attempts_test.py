import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from trainway.agent.supervisor.recovery import Remembered
from trainway.backends.agents import journal
from trainway.engine.moving.kept_attempts import attempts_so_far, keep_attempts
from trainway.engine.record import JobRecord
from trainway.json_types import Json

RECORD = JobRecord(id="a", name="demo", namespace="default", kind="JobSet", backend="local")
TIME = "2026-11-18T05:00:00.000000Z"


@dataclass(frozen=True)
class Case:
    name: str
    record: JobRecord
    restarts: int | None
    counted: int = 0


LOST = replace(RECORD, recovery="{}", started=TIME)
COUNTED = json.dumps({"jobSet": {"restarts": 3, "restartsCountTowardsMax": 2}})
CASES = [
    Case("first", LOST, 1),
    Case("later", replace(LOST, attempt=2, restarts=2, observed=COUNTED), 3, 2),
    Case("not-begun", replace(LOST, attempt=2, restarts=3), 3),
    Case("never-started", replace(LOST, started=""), None),
    Case("without-a-strategy", replace(LOST, recovery=None), 1),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_next_attempt_follows_those_that_ran(case: Case) -> None:
    counted = {"restartsCountTowardsMax": case.counted}
    wanted: Json = {} if case.restarts is None else {"restarts": case.restarts, **counted}
    assert attempts_so_far(case.record) == wanted


def test_an_agent_counts_on(tmp_path: Path) -> None:
    directory = tmp_path / "job"
    for _ in range(2):
        keep_attempts(directory, {"restarts": 2}, TIME)
    remembered = Remembered(dict(each) for each in journal.read(directory / "journal.jsonl", -1))
    assert (remembered.status, remembered.suspend, remembered.left) == (
        {"restarts": 2},
        False,
        True,
    )


def test_nothing_is_written_where_there_is_nothing_to_count(tmp_path: Path) -> None:
    keep_attempts(tmp_path / "job", {}, TIME)
    keep_attempts(tmp_path / "nowhere" / "job", {"restarts": 1}, TIME)
    assert list(tmp_path.iterdir()) == []
