from dataclasses import dataclass

import pytest

from trainway.jobset.mpijob_status import Failure, PodFacts
from trainway.json_types import Json
from trainway.operator.mpijobs.roles import (
    Roles,
    finished_workers,
    kept_job,
    kept_pod,
    owner_key,
    pod_facts,
    roles_of,
    running_workers,
    scaling,
)
from trainway.operator.mpijobs.testing import TIME, child_job, jobset, pod

LAUNCHER = child_job("launcher", pods=1)
WORKER = child_job("worker")


def failed(reason: str = "BackoffLimitExceeded") -> Json:
    condition = {"type": "Failed", "status": "True", "reason": reason, "message": "no more"}
    return child_job("launcher", pods=1, failed=3, conditions=[condition])


def test_of_a_pod_little_is_kept() -> None:
    full = pod("worker", "Failed", 1, reason="Evicted", message="x" * 2000, hostIP="10.0.0.1")
    kept = kept_pod(full)
    assert kept["metadata"] == full["metadata"] | {
        "labels": {k: v for k, v in full["metadata"]["labels"].items() if "operator" not in k}
    }
    assert kept["status"] == {"phase": "Failed", "reason": "Evicted", "message": "x" * 1024}


def test_of_a_job_little_is_kept() -> None:
    kept = kept_job(child_job("worker", active=2, failed=1, completionTime=TIME))
    assert kept["spec"] == {"parallelism": 2, "completions": 2}
    assert kept["status"] == {"failed": 1, "completionTime": TIME}


def test_a_pod_tells_whose_it_is() -> None:
    assert owner_key(pod("worker", "Running")) == ["ns/pi"]
    assert owner_key({"metadata": {"name": "other", "namespace": "ns"}}) == []


def test_what_an_earlier_jobset_left_does_not_count() -> None:
    jobs = [LAUNCHER, child_job("worker", uid="old")]
    pods = [pod("worker", "Running", uid="old"), pod("worker", "Running", 1)]
    roles = roles_of(jobset(), jobs, pods)
    assert roles == Roles(launcher=LAUNCHER, worker_pods=(pods[1],))
    assert roles_of(None, jobs, pods) == Roles()


@dataclass(frozen=True)
class Case:
    name: str
    facts: PodFacts
    jobs: tuple[Json, ...] = ()
    pods: tuple[Json, ...] = ()


@pytest.mark.parametrize(
    "case",
    [
        Case("nothing", PodFacts()),
        Case("suspended", PodFacts(launcher_exists=True), (LAUNCHER, WORKER)),
        Case(
            "running; pending pods do not count",
            PodFacts(launcher_exists=True, launcher_running=1, workers_running=1),
            (LAUNCHER, WORKER),
            (pod("launcher", "Running"), pod("worker", "Running"), pod("worker", "Pending", 1)),
        ),
        Case(
            "workers end one by one",
            PodFacts(workers_succeeded=1, workers_failed=2, workers_evicted=1),
            (WORKER,),
            (
                pod("worker", "Succeeded"),
                pod("worker", "Failed", 1),
                pod("worker", "Failed", 1, reason="Evicted"),
            ),
        ),
        Case(
            "completed",
            PodFacts(launcher_exists=True, launcher_completion_time=TIME),
            (child_job("launcher", completionTime=TIME),),
            (pod("launcher", "Succeeded"),),
        ),
        Case(
            "given up; the pod that failed last tells why",
            PodFacts(
                launcher_exists=True,
                launcher_failed=3,
                launcher_failure=Failure("BackoffLimitExceeded", "no more"),
                last_failed_launcher_pod=Failure("OutOfmemory", "too big"),
            ),
            (failed(),),
            (
                pod(
                    "launcher",
                    "Failed",
                    reason="OutOfmemory",
                    message="too big",
                    creationTimestamp="2026-01-31T12:01:00Z",
                ),
                pod("launcher", "Failed", reason="Other", creationTimestamp=TIME),
            ),
        ),
    ],
    ids=lambda case: case.name,
)
def test_pod_facts(case: Case) -> None:
    jobs = [kept_job(job) for job in case.jobs]
    pods = [kept_pod(each) for each in case.pods]
    assert pod_facts(roles_of(jobset(), jobs, pods), 2) == case.facts


def test_workers_that_stop_no_longer_run() -> None:
    pods = (
        pod("worker", "Running", 10),
        pod("worker", "Running", 2, deletionTimestamp=TIME),
        pod("worker", "Pending", 3),
        pod("worker", "Failed", 4),
    )
    roles = roles_of(jobset(), [], pods)
    assert running_workers(roles) == {10}
    assert finished_workers(roles) == [pods[3]]


@dataclass(frozen=True)
class ScalingCase:
    name: str
    worker: Json | None
    workers: int
    wants: int | None


@pytest.mark.parametrize(
    "case",
    [
        ScalingCase("no Job yet", None, 3, None),
        ScalingCase("as wanted", WORKER, 2, None),
        ScalingCase("more", WORKER, 4, 4),
        ScalingCase("fewer", WORKER, 1, 1),
        ScalingCase(
            "one number was written, the other not",
            WORKER | {"spec": {"parallelism": 3, "completions": 2}},
            3,
            3,
        ),
        ScalingCase(
            "completed",
            child_job("worker", conditions=[{"type": "Complete", "status": "True"}]),
            4,
            None,
        ),
        ScalingCase(
            "about to go",
            WORKER | {"metadata": {"deletionTimestamp": TIME}},
            4,
            None,
        ),
    ],
    ids=lambda case: case.name,
)
def test_scaling(case: ScalingCase) -> None:
    wanted = (
        None
        if case.wants is None
        else {"spec": {"parallelism": case.wants, "completions": case.wants}}
    )
    assert scaling(Roles(worker=case.worker), case.workers) == wanted


@pytest.mark.parametrize("end", ["Complete", "Failed", ""])
def test_the_launcher_has_ended(end: str) -> None:
    conditions = [{"type": end or "FailureTarget", "status": "True"}]
    assert Roles(launcher=child_job("launcher", conditions=conditions)).launcher_ended is bool(end)


def ran(role: str, index: int, begin: str, end: str = "") -> Json:
    """A pod with a container that ran from second to second."""
    times = {"startedAt": f"2026-01-31T12:00:{begin}Z"}
    if end:
        times["finishedAt"] = f"2026-01-31T12:00:{end}Z"
    container = {"state": {"terminated" if end else "running": times}}
    phase = "Failed" if end else "Running"
    return kept_pod(pod(role, phase, index, containerStatuses=[container]))


@pytest.mark.parametrize(
    ("pods", "together"),
    [
        ([ran("launcher", 0, "01"), ran("worker", 0, "02"), ran("worker", 1, "01", "03")], True),
        ([ran("launcher", 0, "05"), ran("worker", 0, "02"), ran("worker", 1, "01", "03")], False),
        ([ran("launcher", 0, "01"), ran("worker", 0, "02"), ran("worker", 0, "02")], False),
        ([ran("worker", 0, "02"), ran("worker", 1, "02")], False),
    ],
    ids=["for two seconds", "too late", "one is missing", "no launcher"],
)
def test_pods_that_ran_together(pods: list[Json], together: bool) -> None:
    assert pod_facts(roles_of(jobset(), [], pods), 2).ran_together is together
