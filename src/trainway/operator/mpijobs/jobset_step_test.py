from dataclasses import dataclass

import pytest

from trainway.json_types import Json
from trainway.operator.mpijobs.jobset_step import Step, next_step
from trainway.operator.mpijobs.testing import TIME, jobset


@dataclass(frozen=True)
class Case:
    name: str
    jobset: Json | None
    step: Step
    suspend: bool = False
    changed: bool = False


@pytest.mark.parametrize(
    "case",
    [
        Case("none yet", None, Step.CREATE),
        Case("none yet, suspended", None, Step.CREATE, suspend=True, changed=True),
        Case("runs", jobset(), Step.NOTHING),
        Case("runs, with templates that changed too late", jobset(), Step.NOTHING, changed=True),
        Case("to be suspended", jobset(), Step.SUSPEND, suspend=True, changed=True),
        Case("is suspended", jobset(suspend=True), Step.NOTHING, suspend=True),
        Case(
            "changed while suspended",
            jobset(suspend=True),
            Step.UPDATE,
            suspend=True,
            changed=True,
        ),
        Case("to be resumed", jobset(suspend=True), Step.UPDATE),
        Case("over", jobset("Completed"), Step.NOTHING, suspend=True),
        Case("failed", jobset("Failed", suspend=True), Step.NOTHING),
        Case("about to go", jobset(deletionTimestamp=TIME), Step.WAIT, suspend=True),
    ],
    ids=lambda case: case.name,
)
def test_next_step(case: Case) -> None:
    assert next_step(case.jobset, suspend=case.suspend, changed=case.changed) is case.step
