from dataclasses import dataclass
from typing import Any

import pytest

from trainway.jobset.labels import SUSPENDED
from trainway.json_types import Json
from trainway.training.state import JobStatus, State, status_of
from trainway.training.testing import TIME, job


def queued(obj: Json) -> Json:
    obj["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "team"}
    return obj


def withheld(obj: Json) -> Json:
    obj["metadata"]["annotations"] = {SUSPENDED: "true"}
    return obj


def trainjob(**status: Any) -> Json:
    spec = {"trainer": {"numNodes": 3}}
    return {"kind": "TrainJob", "metadata": {"name": "t"}, "spec": spec, "status": status}


@dataclass(frozen=True)
class Case:
    name: str
    job: Json
    state: State


CASES = [
    Case("new", job(), State.CREATED),
    Case("created", job("Created"), State.STARTING),
    Case("running", job("Running"), State.RUNNING),
    Case("succeeded", job("Succeeded"), State.SUCCEEDED),
    Case("failed", job("Failed"), State.FAILED),
    Case("failed and suspended", job("Failed", suspend=True), State.FAILED),
    Case("suspended", job("Suspended", suspend=True), State.SUSPENDED),
    Case("queued", queued(job("Suspended", suspend=True)), State.QUEUED),
    Case("withheld", withheld(queued(job("Suspended", suspend=True))), State.SUSPENDED),
    Case("withheld in vain", withheld(queued(job("Running"))), State.RUNNING),
    Case("admitted", queued(job("Running")), State.RUNNING),
    Case("deleted", {**job(), "metadata": {"name": "t", "deletionTimestamp": TIME}},
         State.TERMINATING),
    Case("new trainjob", trainjob(), State.CREATED),
    Case("trainjob starts", trainjob(jobsStatus=[{"name": "node", "active": 1}]), State.STARTING),
    Case("trainjob runs", trainjob(jobsStatus=[{"name": "node", "ready": 1}]), State.RUNNING),
    Case("complete", trainjob(conditions=[{"type": "Complete", "status": "True"}]),
         State.SUCCEEDED),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_conditions_come_to_one_state(case: Case) -> None:
    assert status_of(case.job).state is case.state


def test_a_status_says_why_and_since_when() -> None:
    failed = job("Failed")
    failed["status"] |= {
        "startTime": TIME,
        "completionTime": TIME,
        "replicaStatuses": {"Worker": {"active": 1}},
    }
    assert status_of(failed) == JobStatus(
        name="train",
        namespace="team",
        state=State.FAILED,
        reason="MPIJobFailed",
        message="so.",
        workers=2,
        active=1,
        started=TIME,
        ended=TIME,
    )
