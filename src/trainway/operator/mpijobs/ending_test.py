from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from trainway.jobset.labels import TTL_SECONDS
from trainway.json_types import Json
from trainway.operator.mpijobs.ending import Cleanup, cleanup
from trainway.operator.mpijobs.roles import Roles
from trainway.operator.mpijobs.testing import TIME, jobset, mpijob, pod
from trainway.operator.mpijobs.wanted import parse

ENDED = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)
COMPLETED = jobset("Completed")
LEFT = Roles(
    worker_pods=(
        pod("worker", "Succeeded", 0),
        pod("worker", "Failed", 1),
        pod("worker", "Running", 2),
        pod("worker", "Failed", 3, deletionTimestamp=TIME),
    ),
    launcher_pods=(pod("launcher", "Succeeded"),),
)


@dataclass(frozen=True)
class Case:
    name: str
    todo: Cleanup
    policy: str = "None"
    jobset: Json | None = None
    ttl: int | None = None
    own_ttl: str = ""
    after: float = 0


@pytest.mark.parametrize(
    "case",
    [
        Case("None keeps what ended", Cleanup(), jobset=COMPLETED),
        Case("Running too", Cleanup(delete_pod_group=True), "Running", COMPLETED),
        Case(
            "All removes workers that ended by themselves",
            Cleanup(delete_pods=("pi-worker-0-0-x", "pi-worker-0-1-x"), delete_pod_group=True),
            "All",
            COMPLETED,
        ),
        Case("evicted: the JobSet still runs", Cleanup(suspend_jobset=True), jobset=jobset()),
        Case("evicted, and stopped", Cleanup(), jobset=jobset(suspend=True)),
        Case("TTL, early", Cleanup(look_again=7), jobset=COMPLETED, ttl=10, after=3),
        Case("TTL, at last", Cleanup(delete_jobset=True), jobset=COMPLETED, ttl=10, after=10),
        Case("TTL 0", Cleanup(delete_jobset=True), jobset=COMPLETED, ttl=0),
        Case("TTL of an evicted job", Cleanup(delete_jobset=True), jobset=jobset(), ttl=0),
        Case("the JobSet is gone", Cleanup(), ttl=10, after=3),
        Case("it is about to go", Cleanup(), jobset=jobset(deletionTimestamp=TIME), ttl=1, after=3),
        Case("the job's own TTL", Cleanup(look_again=4), ttl=1, own_ttl="5", after=1),
        Case("the sooner one", Cleanup(look_again=1), jobset=COMPLETED, ttl=1, own_ttl="5"),
        Case("its end", Cleanup(delete_job=True), jobset=COMPLETED, ttl=1, own_ttl="5", after=5),
        Case("no number", Cleanup(), jobset=COMPLETED, own_ttl="5m", after=500),
    ],
    ids=lambda case: case.name,
)
def test_cleanup(case: Case) -> None:
    policy: Json = {"cleanPodPolicy": case.policy}
    if case.ttl is not None:
        policy["ttlSecondsAfterFinished"] = case.ttl
    obj = mpijob(run_policy=policy) | {"status": {"completionTime": TIME}}
    if case.own_ttl:
        obj["metadata"]["annotations"] = {TTL_SECONDS: case.own_ttl}
    job, errors = parse(obj)
    assert job is not None, errors
    now = ENDED + timedelta(seconds=case.after)
    assert cleanup(obj, job, case.jobset, LEFT, now) == case.todo
