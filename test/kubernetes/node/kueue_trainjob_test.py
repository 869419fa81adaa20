"""A real Kueue and what depends on the kind of job: patches, partial admission, topology."""

import pytest
from node_operator import trainjob
from queueing import (
    KINDS,
    REQUESTS,
    Kind,
    Queues,
    each_kind,
    mpi_gang,
    node_labels,
    pod_spec,
    runtime,
    train_gang,
)

from trainway.json_types import Json

SPOT = "spot"
HOST = "kubernetes.io/hostname"
REQUIRED_TOPOLOGY = "kueue.x-k8s.io/podset-required-topology"
MULTIKUEUE = "kueue.x-k8s.io/multikueue"


def test_what_kueue_does_not_know_of_a_trainjob_stays(queues: Queues) -> None:
    queues.add_flavor(SPOT)
    queues.open({SPOT: 2})
    patch = {
        "manager": "acme.io/team",
        "trainingRuntimeSpec": {
            "template": {
                "spec": {
                    "replicatedJobs": [
                        {
                            "name": "node",
                            "template": {
                                "spec": {"template": {"metadata": {"labels": {"team": "a"}}}}
                            },
                        }
                    ]
                }
            }
        },
    }
    trainer = {"numNodes": 2, "resourcesPerNode": REQUESTS}
    job = trainjob("kept", "kept", trainer, activeDeadlineSeconds=600, runtimePatches=[patch])
    submitted = queues.submit([runtime("kept"), job])
    for pod in queues.wait_running(submitted, 2):
        assert pod["metadata"]["labels"]["team"] == "a"
        assert pod["spec"]["nodeSelector"] == node_labels(SPOT)
    spec = queues.job(submitted)["spec"]
    assert spec["activeDeadlineSeconds"] == 600
    assert spec["trainer"] == trainer
    assert [each["manager"] for each in spec["runtimePatches"]] == ["acme.io/team"]


def plain_job() -> Json:
    """A Job of three pods that is content with two."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": "content",
            "annotations": {"kueue.x-k8s.io/job-min-parallelism": "2"},
        },
        "spec": {
            "parallelism": 3,
            "completions": 3,
            "template": {"spec": {"restartPolicy": "Never", **pod_spec()}},
        },
    }


def test_only_plain_jobs_start_with_less_than_they_ask_for(queues: Queues) -> None:
    queues.add_flavor(SPOT)
    queues.open({SPOT: 2})
    gangs = [queues.submit(kind.gang(f"{kind.name}-three", 3)) for kind in KINDS]
    for gang in gangs:
        queues.wait_workload(gang, "QuotaReserved", "False", said="insufficient quota")
    job = queues.submit([plain_job()])
    queues.operator.wait_running(queues.namespace, 2)
    assert queues.job(job)["spec"]["parallelism"] == 2
    assert all(queues.pods(gang) == [] for gang in gangs)


def topology(queues: Queues) -> Json:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Topology",
        "metadata": queues.metadata(queues.namespace),
        "spec": {"levels": [{"nodeLabel": HOST}]},
    }


TOPOLOGY_KINDS = tuple(kind for kind in KINDS if kind.gang in (train_gang, mpi_gang))


@each_kind(TOPOLOGY_KINDS)
def test_pods_go_where_the_topology_has_room_for_all(queues: Queues, kind: Kind) -> None:
    queues.cluster.apply(topology(queues))
    queues.add_flavor(SPOT, topologyName=queues.namespace)
    queues.open({SPOT: 10_000})
    together = {REQUIRED_TOPOLOGY: HOST}
    close = queues.submit(kind.gang("close", 2, annotations=together))
    (node,) = queues.cluster.get("nodes")["items"]
    for pod in queues.wait_running(close, 2):
        assert pod["metadata"]["annotations"][REQUIRED_TOPOLOGY] == HOST
        assert pod["spec"]["nodeSelector"][HOST] == node["metadata"]["labels"][HOST]
        assert not pod["spec"].get("schedulingGates")
    assigned = (queues.workload(close) or {})["status"]["admission"]["podSetAssignments"]
    assert all(each["topologyAssignment"]["levels"] == [HOST] for each in assigned)

    # More than half of the node for each: the quota would do, but one host has no room for two.
    thousandths = int(float(node["status"]["allocatable"]["cpu"].rstrip("m")) * 600)
    wide = pod_spec()["containers"]
    wide[0]["resources"] = {"requests": {"cpu": f"{thousandths}m"}}
    apart = queues.submit(kind.gang("apart", 3, annotations=together, containers=wide))
    queues.wait_workload(apart, "QuotaReserved", "False", said="topology")
    assert queues.pods(apart) == []


@pytest.mark.parametrize(
    ("gang", "managed"),
    [
        (train_gang("abroad", 2), {"managedBy": MULTIKUEUE}),
        (mpi_gang("abroad", 2), {"runPolicy": {"managedBy": MULTIKUEUE}}),
    ],
    ids=["trainjob", "mpijob"],
)
def test_a_job_for_another_cluster_is_left_to_kueue(
    queues: Queues, gang: list[Json], managed: Json
) -> None:
    queues.add_flavor(SPOT)
    queues.open({SPOT: 4})
    *others, job = gang
    abroad = queues.submit([*others, {**job, "spec": {**job["spec"], **managed}}])
    queues.wait_workload(abroad, "QuotaReserved")
    # The operator takes jobs in turn: when this one runs, it has seen the one before.
    here = queues.submit([{**job, "metadata": {"name": "here"}}])
    queues.wait_running(here, 2)
    assert not queues.job(abroad).get("status")
    found = queues.cluster.get("jobsets", "-n", queues.namespace)["items"]
    assert [each["metadata"]["name"] for each in found] == ["here"]
