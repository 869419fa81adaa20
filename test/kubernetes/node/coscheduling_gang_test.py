"""Gangs placed by a real scheduler with the coscheduling plugin: all their pods, or none."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import pytest
from cluster.access import Access
from cluster.images import BUSYBOX
from cluster.scheduler_plugins import NAME
from node_operator import NodeOperator, trainjob
from operator_process import OperatorProcess
from queueing import JOBSET_LABEL, UNTIL_TOLD, Queues, mpi_gang, runtime

from trainway.json_types import Json

Gang = Callable[[str, int], list[Json]]

SEAT: Final = "trainway.dev/seat"
SEATS: Final = 4
ONE_SEAT: Final = {"requests": {SEAT: "1"}, "limits": {SEAT: "1"}}


@pytest.fixture(scope="module")
def gang_operator(gang_scheduler: Access, node_operator: NodeOperator) -> Iterator[NodeOperator]:
    """The operator, told that MPIJobs are gangs of that scheduler."""
    usual = node_operator.process
    assert gang_scheduler is node_operator.cluster
    usual.stop()
    log_file = usual.process.log_file.with_name("gang-operator.log")
    arguments = ("--gang-scheduling", NAME)
    process = OperatorProcess(
        node_operator.cluster,
        log_file,
        arguments,
        webhook_port=usual.webhook_port,
        host=usual.host,
    )
    process.start()
    try:
        process.wait_ready()
        yield NodeOperator(node_operator.cluster, process)
    finally:
        process.stop()
        usual.start()
        usual.wait_ready()


@pytest.fixture
def seats(gang_operator: NodeOperator, namespace: str) -> Queues:
    """A node with seats, of which each pod of a gang takes one."""
    cluster = gang_operator.cluster
    (node,) = cluster.get("nodes")["items"]
    body = json.dumps({"status": {"capacity": {SEAT: str(SEATS)}}})
    place = (node["metadata"]["name"], "--subresource=status", "--type=merge", "-p", body)
    cluster.kubectl("patch", "node", *place)
    gang_operator.wait(namespace, lambda: has_seats(cluster), "the node has seats")
    # The scheduler does not soon look again at a gang for which there was no room.
    gang_operator.wait(namespace, lambda: not seated(cluster), "nobody has a seat from before")
    return Queues(gang_operator, namespace)


def has_seats(cluster: Access) -> bool:
    (node,) = cluster.get("nodes")["items"]
    return SEAT in node["status"]["allocatable"]


def seated(cluster: Access) -> list[str]:
    """The pods that have a seat, or will have one."""
    return [
        str(pod["metadata"]["name"])
        for pod in cluster.get("pods", "-A")["items"]
        if pod["status"]["phase"] in ("Pending", "Running")
        and any(SEAT in each["resources"].get("requests", {}) for each in pod["spec"]["containers"])
    ]


def containers() -> list[Json]:
    return [
        {
            "name": "node",
            "image": BUSYBOX,
            "command": ["sh", "-c", UNTIL_TOLD],
            "resources": ONE_SEAT,
        }
    ]


def train_gang(name: str, pods: int) -> list[Json]:
    """A TrainJob on a runtime with the pod group policy."""
    own = runtime(name, containers=containers(), schedulerName=NAME)
    own["spec"]["podGroupPolicy"] = {"coscheduling": {"scheduleTimeoutSeconds": 10}}
    return [own, trainjob(name, name, {"numNodes": pods})]


def mpi_gang_of_seats(name: str, pods: int) -> list[Json]:
    """An MPIJob, which the operator gives to the scheduler."""
    return mpi_gang(name, pods, containers=containers())


def bound(pods: Sequence[Json]) -> list[str]:
    return [pod["metadata"]["name"] for pod in pods if pod["spec"].get("nodeName")]


def turned_away(pods: Sequence[Json]) -> bool:
    """Whether the scheduler has looked at each pod and found no room."""
    conditions = [pod["status"].get("conditions", []) for pod in pods]
    return all(
        any(c["type"] == "PodScheduled" and c["status"] == "False" for c in each)
        for each in conditions
    )


@pytest.mark.parametrize("gang", [train_gang, mpi_gang_of_seats], ids=["trainjob", "mpijob"])
def test_a_gang_without_room_for_all_starts_no_pod_until_there_is(
    seats: Queues, gang: Gang
) -> None:
    suffix = seats.namespace[-5:]  # the scheduler's controller counts pods of a name in all places
    *_, first = gang(f"first-{suffix}", 3)
    seats.operator.create(seats.namespace, *gang(f"first-{suffix}", 3))
    early = seats.wait_running(first, 3)
    assert all(pod["spec"]["schedulerName"] == NAME for pod in early)

    *_, second = gang(f"second-{suffix}", 2)
    seats.operator.create(seats.namespace, *gang(f"second-{suffix}", 2))
    seats.wait(
        lambda: len(seats.pods(second)) == 2 and turned_away(seats.pods(second)),
        "the scheduler has looked at both pods",
    )
    assert bound(seats.pods(second)) == []

    seats.end(early)
    seats.wait_running(second, 2)
    group = seats.cluster.get("podgroup", f"second-{suffix}", "-n", seats.namespace)
    assert group["spec"]["minMember"] == 2
    assert group["spec"]["minResources"][SEAT] == "2"
    place = ("-n", seats.namespace, "-l", f"{JOBSET_LABEL}=second-{suffix}")
    labels = [pod["metadata"]["labels"] for pod in seats.cluster.get("pods", *place)["items"]]
    assert {each["scheduling.x-k8s.io/pod-group"] for each in labels} == {f"second-{suffix}"}
