"""Gangs in the queues of a real Kueue: they start whole, in turn, and give way to others.

What is said of one kind of job holds for all: TrainJobs and MPIJobs, which our operator runs, and
JobSets, which the backend sends where there is no operator.
"""

from queueing import (
    KINDS,
    TOLERATION,
    Kind,
    Queues,
    each_kind,
    node_labels,
)

from trainway.json_types import Json

SPOT, STEADY = "spot", "steady"
PREEMPTION = {"withinClusterQueue": "LowerPriority"}


def uids(pods: list[Json]) -> set[str]:
    return {pod["metadata"]["uid"] for pod in pods}


@each_kind(KINDS)
def test_a_gang_waits_for_its_turn_and_starts_whole(queues: Queues, kind: Kind) -> None:
    queues.add_flavor(SPOT)
    queues.open({SPOT: 3})
    first, second = kind.gang("first", 3), kind.gang("second", 2)
    *others, job = first
    if others:
        queues.operator.create(queues.namespace, *others)
    assert kind.is_suspended(queues.admission_answer(job))

    early = queues.submit(first)
    pods = queues.wait_running(early, 3)
    for pod in pods:
        assert pod["spec"]["nodeSelector"] == node_labels(SPOT)
        assert {**TOLERATION, "effect": "NoSchedule"} in pod["spec"]["tolerations"]
    queues.wait_workload(early, "Admitted")
    queues.wait_workload(early, "PodsReady")

    late = queues.submit(second)
    queues.wait_workload(late, "QuotaReserved", "False", said="insufficient unused quota")
    assert kind.is_suspended(queues.job(late))
    assert queues.pods(late) == []

    queues.end(kind.deciding(pods))
    queues.wait_running(late, 2)
    assert queues.wait_workload(early, "Finished")["reason"] == "Succeeded"

    queues.delete(late)
    queues.wait(lambda: queues.workload(late) is None, "the running job's Workload is gone")
    queues.delete(early)
    queues.wait(lambda: queues.workload(early) is None, "the finished job's Workload is gone")


@each_kind(KINDS)
def test_a_gang_gives_way_to_a_more_important_one_and_goes_on_elsewhere(
    queues: Queues, kind: Kind
) -> None:
    queues.add_flavor(SPOT)
    queues.add_flavor(STEADY)
    queues.add_priority("high", 100)
    queues.open({SPOT: 2, STEADY: 0}, preemption=PREEMPTION)
    low = queues.submit(kind.gang("low", 2))
    first = queues.wait_running(low, 2)

    high = queues.submit(kind.gang("high", 2, nodeSelector=node_labels(SPOT)), priority="high")
    evicted = queues.wait_workload(low, "Preempted")
    assert evicted["reason"] == "InClusterQueue"
    queues.wait_no_pods(low)
    assert kind.is_suspended(queues.job(low))
    queues.wait_running(high, 2)

    queues.cluster.apply(queues.cluster_queue({SPOT: 2, STEADY: 2}, preemption=PREEMPTION))
    second = queues.wait_running(low, 2)
    assert not uids(first) & uids(second)
    queues.wait_workload(low, "PodsReady")
    for pod in second:
        assert pod["spec"]["nodeSelector"].items() >= node_labels(STEADY).items()
        if kind.name != "jobset":  # JobSet leaves the selectors of where it ran before
            assert pod["spec"]["nodeSelector"] == node_labels(STEADY)
    queues.delete(high)


@each_kind(KINDS)
def test_a_queued_gang_that_is_deleted_leaves_nothing(queues: Queues, kind: Kind) -> None:
    queues.add_flavor(SPOT)
    queues.open({SPOT: 1})
    job = queues.submit(kind.gang("patient", 2))
    queues.wait_workload(job, "QuotaReserved", "False")
    queues.delete(job)
    queues.wait(lambda: queues.workload(job) is None, "the Workload is gone")
    kinds = "jobsets,jobs,pods,secrets"
    queues.wait(
        lambda: not queues.cluster.get(kinds, "-n", queues.namespace)["items"],
        "nothing of the job is left",
    )
