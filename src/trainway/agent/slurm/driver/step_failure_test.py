"""Words of srun, as Slurm 22.05 says them."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from trainway.agent.slurm.driver.step_failure import StepFailure

UNABLE = "srun: error: Unable to create step for job 7"


@dataclass(frozen=True)
class Case:
    errors: str
    ends_job: bool = False
    out_of_memory: bool = False
    unreachable: bool = False


@pytest.mark.parametrize(
    "case",
    [
        Case(""),
        Case("srun: error: n1: task 1: Killed\n"),
        Case(f"{UNABLE}: Memory required by task is not available"),
        Case(f"{UNABLE}: Job/step already completing or completed", ends_job=True),
        Case("srun: Job allocation 7 has been revoked", ends_job=True),
        Case("slurmstepd: error: Detected 1 oom-kill event(s) in StepId=7.0.", out_of_memory=True),
        Case("srun: error: n1: task 0: Out Of Memory", out_of_memory=True),
        Case("srun: error: Task launch failed: Communication connection failure", unreachable=True),
        Case("srun: error: Node failure on n1\nsrun: error: Aborting", unreachable=True),
    ],
    ids=lambda case: case.errors[-40:].strip() or "nothing",
)
def test_what_it_means(case: Case) -> None:
    failure = StepFailure(case.errors)
    found = (failure.is_end_of_job, failure.is_out_of_memory, failure.is_unreachable)
    assert found == (case.ends_job, case.out_of_memory, case.unreachable)


def test_why_a_pod_never_began() -> None:
    assert StepFailure("").why_not_started("n1", "/j") == "srun could not start the pod"
    assert StepFailure("one\ntwo\n\n").why_not_started("n1", "/j") == "two"
    lost = "\x1b[91mFATAL:   could not open image /x.sif\x1b[0m\n\x1b[0m\n"
    exited = "srun: error: n1: task 0: Exited with exit code 255\n"
    in_image = StepFailure(lost + exited).why_not_started("n1", "/j")
    assert in_image == "FATAL:   could not open image /x.sif"
    assert StepFailure(exited).why_not_started("n1", "/j") == exited.strip()
    said = "/usr/bin/python3: can't open file '/j/agent.pyz': [Errno 2]\nsrun: error: n1: Exited"
    missing = StepFailure(said)
    wanted = "node n1 does not see /j: all nodes have to share its file system, or the cluster "
    wanted += "needs `shared: false`"
    assert missing.why_not_started("n1", "/j") == wanted
