from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from trainway.json_types import Json
from trainway.operator.trainjobs.status import (
    NORMAL,
    WARNING,
    News,
    end_phase,
    news,
    outcome,
    status_patch,
    unsupported_runtime,
)

NOW = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)
CREATED = "2026-01-31T11:00:00Z"


def condition(type_: str, reason: str, message: str = "", status: str = "True") -> Json:
    return {"type": type_, "status": status, "reason": reason, "message": message}


SUSPENDED = condition("Suspended", "Suspended", "TrainJob is suspended")
RESUMED = condition("Suspended", "Resumed", "TrainJob is resumed", "False")
COMPLETE = condition("Complete", "AllJobsCompleted", "done")
FAILED = condition("Failed", "FailedJobs", "broken")
LATE = condition("Failed", "DeadlineExceeded", "late")


def trainjob(status: Json | None = None, **spec: Any) -> Json:
    metadata = {"name": "t", "creationTimestamp": CREATED, "resourceVersion": "7"}
    job: Json = {"metadata": metadata, "spec": {"runtimeRef": {"name": "r"}, **spec}}
    return job if status is None else {**job, "status": status}


@dataclass(frozen=True)
class Case:
    name: str
    before: list[Json] = field(default_factory=list)
    after: list[Json] = field(default_factory=list)
    told: list[News] = field(default_factory=list)
    phase: str = ""


CASES = [
    Case("nothing happened", [SUSPENDED], [SUSPENDED]),
    Case(
        "created suspended",
        [],
        [SUSPENDED],
        [News(NORMAL, "Suspended", "TrainJob is suspended")],
    ),
    Case("resumed", [SUSPENDED], [RESUMED], [News(NORMAL, "Resumed", "TrainJob is resumed")]),
    Case("completed", [], [COMPLETE], [News(NORMAL, "Completed", "done")], "Complete"),
    Case("failed", [RESUMED], [RESUMED, FAILED], [News(WARNING, "FailedJobs", "broken")], "Failed"),
    Case("too late", [], [LATE], [News(WARNING, "DeadlineExceeded", "late")], "Failed"),
    Case(
        "suspended after the end",
        [COMPLETE],
        [COMPLETE, SUSPENDED],
        [News(NORMAL, "Suspended", "TrainJob is suspended")],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_happened_is_told_once(case: Case) -> None:
    before, after = {"conditions": case.before}, {"conditions": case.after}
    assert news(before, after) == case.told
    assert end_phase(before, after) == case.phase


def test_a_patch_holds_what_changed_and_the_version_it_is_for() -> None:
    jobs = [{"name": "node"}]
    job = trainjob({"conditions": [SUSPENDED], "trainerStatus": {"a": 1}})
    status = {"conditions": [SUSPENDED], "jobsStatus": jobs, "trainerStatus": {"a": 1}}
    assert status_patch(job, status) == {
        "metadata": {"resourceVersion": "7"},
        "status": {"jobsStatus": jobs},
    }


def test_there_is_no_patch_where_nothing_changed() -> None:
    assert status_patch(trainjob(), {}) is None
    assert status_patch(trainjob({"conditions": [COMPLETE]}), {"conditions": [COMPLETE]}) is None
    assert status_patch(trainjob({"jobsStatus": []}), {}) is None


def test_what_is_no_longer_there_is_removed() -> None:
    patch = status_patch(trainjob({"jobsStatus": [{"name": "node"}]}), {})
    assert patch == {"metadata": {"resourceVersion": "7"}, "status": {"jobsStatus": None}}


@dataclass(frozen=True)
class Reference:
    name: str
    ref: Json
    expected: str


REFERENCES = [
    Reference("by default", {"name": "r"}, ""),
    Reference("namespaced", {"name": "r", "kind": "TrainingRuntime"}, ""),
    Reference("kind", {"name": "r", "kind": "Kernel"}, "Kernel.trainer.kubeflow.org"),
    Reference("group", {"name": "r", "apiGroup": "a.b"}, "ClusterTrainingRuntime.a.b"),
    Reference("no group", {"name": "r", "apiGroup": "", "kind": "Kernel"}, "Kernel"),
]


@pytest.mark.parametrize("case", REFERENCES, ids=lambda case: case.name)
def test_only_our_runtimes_are_supported(case: Reference) -> None:
    assert unsupported_runtime(trainjob(runtimeRef=case.ref)) == case.expected


def test_d14_a_job_on_an_unsupported_runtime_has_failed() -> None:
    job = trainjob(runtimeRef={"name": "r", "kind": "Kernel"})
    found = outcome(job, None, NOW).status["conditions"]
    assert [(item["type"], item["reason"]) for item in found] == [
        ("Failed", "TrainingRuntimeNotSupported")
    ]


def test_the_end_of_a_job_on_an_unsupported_runtime_stays() -> None:
    status = {"conditions": [COMPLETE]}
    job = trainjob(status, runtimeRef={"name": "r", "kind": "Kernel"})
    assert outcome(job, None, NOW).status == status


def test_a_deadline_of_zero_is_none() -> None:
    assert outcome(trainjob(activeDeadlineSeconds=0), None, NOW).status == {}
    late = outcome(trainjob(activeDeadlineSeconds=60), None, NOW).status["conditions"]
    assert late[0]["reason"] == "DeadlineExceeded"


def test_a_trial_that_its_search_has_stopped_has_failed_and_loses_its_jobset() -> None:
    job = trainjob()
    job["metadata"]["annotations"] = {"trainway.dev/pruned": "loss was 9"}
    jobset: Json = {"metadata": {}, "spec": {}}
    assert outcome(job, jobset, NOW).status == {}  # no search owns it
    job["metadata"]["ownerReferences"] = [{"kind": "OptimizationJob", "controller": True}]
    found = outcome(job, jobset, NOW)
    (failed,) = found.status["conditions"]
    assert (failed["type"], failed["reason"], failed["message"]) == (
        "Failed",
        "Pruned",
        "loss was 9",
    )
    assert found.delete_jobset
    job["status"] = {"conditions": [COMPLETE]}
    assert outcome(job, jobset, NOW).status == {"conditions": [COMPLETE]}
