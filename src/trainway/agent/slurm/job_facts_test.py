"""What `scontrol show job` prints."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from trainway.agent.slurm.job_facts import JobFacts


@dataclass(frozen=True)
class Case:
    text: str
    known: bool = True
    running: bool = False
    preempted: bool = False


@pytest.mark.parametrize(
    "case",
    [
        Case("", known=False),
        Case("JobId=7 JobName=x JobState=RUNNING Reason=None EndTime=Unknown", running=True),
        Case(
            "JobId=7 JobState=RUNNING PreemptTime=2026-11-15T15:46:38 EndTime=2026-11-15T15:46:44",
            running=True,
            preempted=True,
        ),
        Case("JobId=7 JobState=RUNNING PreemptTime=None", running=True),
        Case("JobId=7 JobState=COMPLETING Restarts=1"),
        Case("JobId=7 JobState=RUNNING Comment=trainway:a JobState=FAILED", running=True),
        Case("JobId=7 JobState=RUNNING A=1\nJobId=8 HetJobOffset=1 JobState=PENDING", running=True),
    ],
    ids=lambda case: case.text[:40],
)
def test_facts(case: Case) -> None:
    facts = JobFacts(case.text)
    found = (facts.is_known, facts.is_running, facts.is_preempted)
    assert found == (case.known, case.running, case.preempted)
