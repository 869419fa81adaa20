from dataclasses import dataclass

import pytest

from trainway.backends.kubernetes.pods import (
    Place,
    gang_of,
    lost_record,
    newest,
    place_of,
    record_of,
)
from trainway.backends.kubernetes.testing import TIME, pod
from trainway.jobset.labels import MPI_JOB_NAME, MPI_JOB_ROLE, MPI_REPLICA_INDEX
from trainway.json_types import Json


def test_a_pod_of_a_jobset_has_a_place() -> None:
    found = place_of(pod(role="node", job=1, rank=2, attempt=3))
    assert found == Place("node", 1, 2, 3)
    assert found.key == "node-1-2"
    assert gang_of(pod()) == ("demo",)


def test_a_pod_of_upstreams_mpi_operator_has_one_too() -> None:
    labels = {MPI_JOB_NAME: "pi", MPI_JOB_ROLE: "worker", MPI_REPLICA_INDEX: "2"}
    worker = {"metadata": {"name": "pi-worker-2", "labels": labels}}
    assert (place_of(worker), gang_of(worker)) == (Place("worker", 0, 2), ("pi",))
    launcher = {"metadata": {"labels": {MPI_JOB_NAME: "pi", MPI_JOB_ROLE: "launcher"}}}
    assert place_of(launcher) == Place("launcher", 0, 0)


@pytest.mark.parametrize(
    "labels", [{}, {"app": "x"}, {"jobset.sigs.k8s.io/replicatedjob-name": "node",
                                  "jobset.sigs.k8s.io/job-index": "one"}]
)  # fmt: skip
def test_other_pods_have_none(labels: Json) -> None:
    assert place_of({"metadata": {"name": "x", "labels": labels}}) is None


def test_who_was_made_later_has_the_place() -> None:
    old = pod(name="old", created="2026-11-15T05:00:00Z", attempt=2)
    new = pod(name="new", created="2026-11-15T05:00:01Z", attempt=0)
    assert newest([new, old]) == {"node-0-0": new}
    later = pod(name="later", created="2026-11-15T05:00:01Z", attempt=1)
    assert newest([later, new, old]) == {"node-0-0": later}


@dataclass(frozen=True)
class Case:
    name: str
    status: Json
    expected: Json


SIDE = {"name": "main", "restartCount": 1}


@pytest.mark.parametrize(
    "case",
    [
        Case("made", {}, {"phase": "Pending", "ready": False, "containers": []}),
        Case(
            "runs",
            {
                "phase": "Running",
                "conditions": [{"type": "Ready", "status": "True"}],
                "containerStatuses": [SIDE | {"state": {"running": {"startedAt": TIME}}}],
            },
            {
                "phase": "Running",
                "ready": True,
                "containers": [
                    {"name": "main", "state": "running", "restarts": 1, "startedAt": TIME}
                ],
            },
        ),
        Case(
            "failed",
            {
                "phase": "Failed",
                "containerStatuses": [
                    SIDE
                    | {
                        "state": {
                            "terminated": {"exitCode": 3, "startedAt": TIME, "message": "why"}
                        }
                    }
                ],
            },
            {
                "phase": "Failed",
                "ready": False,
                "containers": [
                    {
                        "name": "main",
                        "state": "terminated",
                        "restarts": 1,
                        "startedAt": TIME,
                        "exitCode": 3,
                        "message": "why",
                    }
                ],
            },
        ),
        Case(
            "could not be started",
            {
                "phase": "Failed",
                "containerStatuses": [
                    SIDE
                    | {
                        "state": {
                            "terminated": {
                                "exitCode": 128,
                                "startedAt": "1970-01-01T00:00:00Z",
                                "reason": "StartError",
                            }
                        }
                    }
                ],
            },
            {
                "containers": [
                    {
                        "name": "main",
                        "state": "terminated",
                        "restarts": 1,
                        "exitCode": 128,
                        "reason": "StartError",
                    }
                ],
            },
        ),
        Case(
            "evicted",
            {"phase": "Failed", "reason": "Evicted", "message": "the node was low on memory"},
            {"phase": "Failed", "reason": "Evicted", "message": "the node was low on memory"},
        ),
        Case(
            "out of memory",
            {
                "phase": "Failed",
                "containerStatuses": [
                    {
                        "name": "main",
                        "state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}},
                    }
                ],
            },
            {"reason": "OOMKilled", "message": "it used more memory than it has"},
        ),
        Case(
            "was evicted",
            {
                "phase": "Running",
                "conditions": [
                    {
                        "type": "DisruptionTarget",
                        "status": "True",
                        "reason": "EvictionByEvictionAPI",
                        "message": "Eviction API: evicting",
                    }
                ],
            },
            {
                "reason": "EvictionByEvictionAPI",
                "message": "Eviction API: evicting",
                "disrupted": True,
            },
        ),
        Case(
            "was killed and runs again",
            {
                "phase": "Running",
                "containerStatuses": [
                    SIDE
                    | {
                        "state": {"running": {"startedAt": TIME}},
                        "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}},
                    }
                ],
            },
            {
                "reason": None,
                "containers": [
                    {
                        "name": "main",
                        "state": "running",
                        "restarts": 1,
                        "startedAt": TIME,
                        "lastState": {
                            "exitCode": 137,
                            "reason": "OOMKilled",
                            "message": "it used more memory than it has",
                        },
                    }
                ],
            },
        ),
        Case(
            "waits to be started again",
            {
                "phase": "Running",
                "containerStatuses": [
                    SIDE
                    | {
                        "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}},
                        "lastState": {"terminated": {"exitCode": 1}},
                    }
                ],
            },
            {
                "reason": "CrashLoopBackOff",
                "message": None,
                "containers": [
                    {
                        "name": "main",
                        "state": "waiting",
                        "restarts": 1,
                        "lastState": {"exitCode": 1},
                    }
                ],
            },
        ),
        Case(
            "waits for its image",
            {
                "phase": "Pending",
                "containerStatuses": [
                    {"name": "main", "state": {"waiting": {"reason": "ErrImagePull"}}}
                ],
            },
            {"phase": "Pending", "reason": "ErrImagePull"},
        ),
        Case(
            "starts",
            {
                "phase": "Pending",
                "containerStatuses": [
                    {"name": "main", "state": {"waiting": {"reason": "ContainerCreating"}}}
                ],
            },
            {"reason": None},
        ),
        Case(
            "fits nowhere",
            {
                "phase": "Pending",
                "conditions": [
                    {
                        "type": "PodScheduled",
                        "status": "False",
                        "reason": "Unschedulable",
                        "message": "0/1 nodes",
                    }
                ],
            },
            {"reason": "Unschedulable", "message": "0/1 nodes"},
        ),
    ],
    ids=lambda case: case.name,
)
def test_what_is_recorded_of_a_pod(case: Case) -> None:
    record = record_of(pod(status=case.status))
    assert {name: record.get(name) for name in case.expected} == case.expected
    assert (record["type"], record["pod"], record["attempt"]) == ("pod", "node-0-0", 0)


def test_a_pod_that_vanished_has_failed() -> None:
    record = record_of(pod(status={"phase": "Running"}))
    assert lost_record(record) == record | {"phase": "Failed", "reason": "Deleted"}
