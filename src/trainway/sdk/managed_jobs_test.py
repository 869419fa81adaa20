from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from trainway.errors import NotFoundError, UsageError
from trainway.json_types import Json
from trainway.sdk.managed_jobs import (
    STATUSES,
    ManagedJobStatus,
    record,
    requested_text,
    the_active,
    the_job,
    to_cancel,
    whose,
)
from trainway.sdk.phases import PHASES, TERMINAL
from trainway.sdk.rest import Rest
from trainway.sdk.testing import FakeServer

NOW = datetime(2026, 11, 15, 5, 20, tzinfo=UTC)


def job(phase: str = "Running", backend: str = "local", **status: Any) -> Json:
    return {
        "metadata": {
            "id": "id1",
            "name": "train",
            "creationTimestamp": "2026-11-15T05:10:00Z",
            "labels": {"trainway.dev/user": "ada"},
        },
        "spec": {"backend": backend, "priority": 3, "requests": {"cpus": 2, "memory": 0}},
        "status": {"phase": phase, **status},
    }


def test_every_phase_has_a_status_that_ends_when_it_does() -> None:
    assert set(STATUSES) == set(PHASES)
    assert {phase for phase, status in STATUSES.items() if status.is_terminal()} == set(TERMINAL)


@dataclass(frozen=True)
class Case:
    job: Json
    expected: Json


@pytest.mark.parametrize(
    "case",
    [
        Case(
            job("Queued"),
            {"status": ManagedJobStatus.PENDING, "start_at": None, "job_duration": 0.0}
            | {"end_at": None, "cluster_resources": "-", "resources": "CPU:2"}
            | {"job_id": "id1", "job_name": "train", "task_id": 0, "user_name": "ada"},
        ),
        Case(
            job("Restarting", startTime="2026-11-15T05:15:00Z", restarts=2),
            {"status": ManagedJobStatus.RECOVERING, "job_duration": 300.0, "recovery_count": 2}
            | {"cluster_resources": "CPU:2", "priority": 3, "failure_reason": None},
        ),
        Case(
            job(
                "Failed",
                "slurm/hpc/gpu",
                startTime="2026-11-15T05:15:00Z",
                completionTime="2026-11-15T05:15:30Z",
                reason="OOMKilled",
                message="too much",
            ),
            {"status": ManagedJobStatus.FAILED, "job_duration": 30.0, "infra": "slurm/hpc/gpu"}
            | {"cloud": "slurm", "region": "hpc", "zone": "gpu"}
            | {"failure_reason": "OOMKilled: too much"},
        ),
    ],
)
def test_a_job_as_a_record(case: Case) -> None:
    found = record(case.job, NOW)
    assert {name: found[name] for name in case.expected} == case.expected
    assert found["submitted_at"] == datetime(2026, 11, 15, 5, 10, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("requests", "text"),
    [
        ({}, "-"),
        ({"cpus": 0.5, "memory": 0, "gpus": 0}, "CPU:0.5"),
        ({"cpus": 4, "memory": 16 * 2**30, "gpus": 8}, "CPU:4, GPU:8, mem:16GB"),
        ({"cpus": 0, "memory": 2**29, "gpus": 0}, "mem:0.5GB"),
    ],
)
def test_what_a_job_requests(requests: Json, text: str) -> None:
    assert requested_text(requests) == text


def test_whose_jobs_are_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "ada")
    assert whose(all_users=False) == ["trainway.dev/user=ada"]
    assert whose(all_users=True) == []


def test_jobs_to_cancel_are_named_in_one_way(fake: FakeServer) -> None:
    fake.add_job("a", "Running")
    fake.add_job("b", "Succeeded")
    rest = Rest.connect()
    assert [each["metadata"]["id"] for each in to_cancel(rest, ["b"], None)] == ["id0001"]
    assert [each["metadata"]["id"] for each in to_cancel(rest, [], "a")] == ["id0000"]
    assert [each["metadata"]["id"] for each in to_cancel(rest, [], None, every=True)] == ["id0000"]
    for ids, name, every in (([], None, False), (["a"], "a", False), (["a"], None, True)):
        with pytest.raises(UsageError):
            to_cancel(rest, ids, name, every=every)


def test_setups_of_workers_are_cancelled_only_by_their_names(fake: FakeServer) -> None:
    for name, backend in (("a", "worker-pool/warm"), ("warm-1-setup", "cluster/warm-1")):
        job = fake.add_job(name, "Running")
        job["spec"]["backend"] = backend
        job["metadata"]["labels"] = {"trainway.dev/worker-pool": "warm"}
    fake.add_job("b", "Running")["spec"]["backend"] = "cluster/dev"
    rest = Rest.connect()
    for every, all_users in ((True, False), (False, True)):
        found = to_cancel(rest, [], None, every=every, all_users=all_users)
        assert [each["metadata"]["name"] for each in found] == ["b", "a"]
    found = to_cancel(rest, [], None, pool="warm")
    assert "warm-1-setup" not in [each["metadata"]["name"] for each in found]
    (setup,) = to_cancel(rest, [], "warm-1-setup")
    assert setup["metadata"]["id"] == "id0001"


def test_a_name_means_the_one_job_that_has_not_ended(fake: FakeServer) -> None:
    fake.add_job("a", "Succeeded")
    rest = Rest.connect()
    with pytest.raises(NotFoundError, match="no job called 'a' waits or runs"):
        the_active(rest, "a")
    fake.add_job("a", "Running")
    assert the_active(rest, "a")["metadata"]["id"] == "id0001"
    fake.add_job("a", "Queued")
    with pytest.raises(UsageError, match="2 jobs called 'a' wait or run: id0002, id0001"):
        the_active(rest, "a")


def test_a_job_is_named_by_id_or_name_or_is_the_newest(fake: FakeServer) -> None:
    rest = Rest.connect()
    with pytest.raises(NotFoundError, match="there are no jobs"):
        the_job(rest, None, None)
    for name in ("a", "a", "b"):
        fake.add_job(name, "Running")
    assert the_job(rest, "id0000", None)["metadata"]["id"] == "id0000"
    assert the_job(rest, None, "a")["metadata"]["id"] == "id0001"
    assert the_job(rest, None, None)["metadata"]["id"] == "id0002"
    with pytest.raises(NotFoundError, match="no job is called 'c'"):
        the_job(rest, None, "c")
    with pytest.raises(UsageError):
        the_job(rest, "id0000", "a")
