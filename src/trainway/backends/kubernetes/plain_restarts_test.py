"""Plain Jobs that are restarted: a small cluster is driven to the end of every story."""

from dataclasses import dataclass, field
from typing import Any
from unittest.mock import MagicMock

import pytest

from trainway.backends.kubernetes.plain_driver import PlainDriver
from trainway.backends.kubernetes.plain_jobs import job_names, jobs_of, policy_of, service_of
from trainway.backends.kubernetes.plain_restarts import Restarts, can_restart, made_anew
from trainway.backends.kubernetes.plain_status import restarted, status_of, steps
from trainway.jobset.labels import PLAIN_RESTARTS, RESTART_ATTEMPT
from trainway.json_types import Json

TIME = "2026-11-15T05:00:00Z"
SINGLE = "RestartJobAndIgnoreMaxRestarts"


def gang(failure: Json | None, **spec: Any) -> Json:
    pod = {"spec": {"containers": [{"name": "main"}]}}
    job = {"parallelism": 1, "completions": 1, "template": pod}
    roles = [{"name": name, "replicas": 1, "template": {"spec": job}} for name in ("a", "b")]
    made = {"replicatedJobs": roles, **spec, **({"failurePolicy": failure} if failure else {})}
    return {"metadata": {"name": "demo", "namespace": "ml"}, "spec": made}


@dataclass
class Cluster:
    """Has Jobs, and does what it is told; whoever watches it may be killed at any time."""

    jobset: Json
    service: Json = field(default_factory=dict)
    jobs: dict[str, Json] = field(default_factory=dict)
    status: Json = field(default_factory=dict)
    uids: int = 0

    def __post_init__(self) -> None:
        self.service = service_of(self.jobset)
        self.sent = {job["metadata"]["name"]: job for job in jobs_of(self.jobset, "uid")}
        for job in self.sent.values():
            self.make(job)

    def make(self, job: Json) -> None:
        self.uids += 1
        metadata = {**job["metadata"], "uid": str(self.uids)}
        name = metadata["name"]
        assert name not in self.jobs
        self.jobs[name] = {**job, "metadata": metadata, "status": {"active": 1, "ready": 1}}

    def end(self, name: str, kind: str = "Failed", **why: str) -> None:
        condition = {"type": kind, "status": "True", "lastTransitionTime": TIME, **why}
        self.jobs[name] = {**self.jobs[name], "status": {"conditions": [condition]}}

    @property
    def restarts(self) -> Restarts:
        return Restarts.on(self.service)

    def turn(self) -> bool:
        """What a watcher does once; False: nothing is due."""
        jobs, policy = list(self.jobs.values()), policy_of(self.jobset["spec"])
        before = self.restarts
        self.status = status_of(policy, jobs, self.status, is_suspended=False, restarts=before)
        new = restarted(policy, jobs, self.status, before)
        if new != before:
            self.service["metadata"]["annotations"] = new.annotation()
            return True
        names = job_names("demo", policy)
        due = steps(policy, jobs, self.status, is_suspended=False, restarts=before, names=names)
        for step in due[:1]:  # it is killed after the first one, each time
            if step.action == "delete":
                assert step.uid in ("", self.jobs[step.name]["metadata"]["uid"])
                del self.jobs[step.name]
            elif step.action == "create":
                self.make(made_anew(self.sent[step.name], before))
            else:
                job = self.jobs[step.name]
                self.jobs[step.name] = {**job, "spec": {**job["spec"], "suspend": False}}
        return bool(due)

    def settle(self) -> None:
        for _ in range(50):
            if not self.turn():
                return
        raise AssertionError("it never comes to rest")

    @property
    def conditions(self) -> dict[str, tuple[str, str]]:
        found = self.status.get("conditions") or []
        return {item["type"]: (item["status"], item["reason"]) for item in found}


def uids(cluster: Cluster) -> set[str]:
    return {job["metadata"]["uid"] for job in cluster.jobs.values()}


def test_a_gang_restarts_as_a_whole_and_only_so_often() -> None:
    cluster = Cluster(gang({"maxRestarts": 2}))
    cluster.settle()
    for number in (1, 2):
        before = uids(cluster)
        cluster.end("demo-b-0")
        cluster.turn()
        cluster.turn()
        assert cluster.conditions["RestartingJobSet"] == ("True", "DefaultFailurePolicy")
        cluster.settle()
        assert not before & uids(cluster), "a Job of the attempt before is left"
        assert set(cluster.jobs) == {"demo-a-0", "demo-b-0"}
        assert cluster.status["restarts"] == number
        assert cluster.conditions["RestartingJobSet"] == ("False", "JobsReady")
        for job in cluster.jobs.values():
            assert job["metadata"]["labels"][RESTART_ATTEMPT] == str(number)
            template = job["spec"]["template"]["metadata"]
            assert template["labels"][RESTART_ATTEMPT] == str(number)
    cluster.end("demo-a-0")
    cluster.settle()
    assert cluster.conditions["Failed"] == ("True", "ReachedMaxRestarts")
    assert set(cluster.jobs) == {"demo-a-0"}, "the others end with it"
    assert cluster.restarts.counted == 2


def test_success_after_a_restart() -> None:
    cluster = Cluster(gang({"maxRestarts": 1}))
    cluster.end("demo-a-0")
    cluster.settle()
    for name in list(cluster.jobs):
        cluster.end(name, "Complete")
    cluster.settle()
    assert cluster.conditions["Completed"] == ("True", "AllJobsCompleted")


def test_one_job_restarts_alone_however_often() -> None:
    rule = {"action": SINGLE, "onJobFailureReasons": ["BackoffLimitExceeded"]}
    cluster = Cluster(gang({"maxRestarts": 0, "rules": [rule]}))
    other = cluster.jobs["demo-a-0"]["metadata"]["uid"]
    for number in (1, 2, 3):
        cluster.end("demo-b-0", reason="BackoffLimitExceeded")
        cluster.settle()
        assert cluster.jobs["demo-a-0"]["metadata"]["uid"] == other
        assert cluster.restarts.attempt("demo-b-0") == number
        assert cluster.jobs["demo-b-0"]["status"]["ready"] == 1
    assert (cluster.status["restarts"], cluster.restarts.counted) == (0, 0)


def test_a_role_that_waits_waits_again() -> None:
    made = gang({"maxRestarts": 1})
    made["spec"]["replicatedJobs"][1]["dependsOn"] = [{"name": "a", "status": "Complete"}]
    cluster = Cluster(made)
    cluster.end("demo-a-0")
    cluster.settle()
    assert cluster.jobs["demo-b-0"]["spec"]["suspend"] is True
    cluster.end("demo-a-0", "Complete")
    cluster.settle()
    assert cluster.jobs["demo-b-0"]["spec"]["suspend"] is False


@dataclass(frozen=True)
class Case:
    name: str
    failure: Json | None
    is_possible: bool


@pytest.mark.parametrize(
    "case",
    [
        Case("none", None, False),
        Case("no restarts", {"maxRestarts": 0}, False),
        Case("some", {"maxRestarts": 1}, True),
        Case("what fails", {"rules": [{"action": "FailJobSet"}]}, False),
        Case("what counts", {"rules": [{"action": "RestartJobSet"}]}, False),
        Case("what does not", {"rules": [{"action": SINGLE}]}, True),
    ],
    ids=lambda case: case.name,
)
def test_which_policies_may_restart(case: Case) -> None:
    assert can_restart(case.failure) is case.is_possible


@pytest.mark.parametrize("text", ["", "x", "[]", '{"other": 1}', '{"whole": "1"}', '{"single": 3}'])
def test_what_somebody_else_wrote_counts_for_nothing(text: str) -> None:
    service = {"metadata": {"annotations": {PLAIN_RESTARTS: text}}}
    assert Restarts.on(service) == Restarts()


def test_restarts_elsewhere_leave_fewer() -> None:
    handle: Json = {"policy": policy_of(gang({"maxRestarts": 3})["spec"])}
    driver = PlainDriver(MagicMock(), handle, MagicMock())
    driver.count_on(5, 2)
    assert driver.policy["failurePolicy"] == {"maxRestarts": 1}
    assert handle["policy"]["failurePolicy"] == {"maxRestarts": 3}
