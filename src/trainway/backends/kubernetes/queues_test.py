"""LocalQueues and ClusterQueues as Kueue serves them."""

from trainway.backends.kubernetes.queues import queues_of
from trainway.json_types import Json


def _local(name: str, *, active: bool = True, reason: str = "ClusterQueueIsInactive") -> Json:
    condition = {
        "type": "Active",
        "status": str(active),
        "reason": reason,
        "message": "Can't submit new workloads to clusterQueue",
    }
    return {
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {"clusterQueue": "all"},
        "status": {"conditions": [condition], "pendingWorkloads": 2, "admittedWorkloads": 1},
    }


_CLUSTER: Json = {
    "metadata": {"name": "all"},
    "spec": {
        "resourceGroups": [
            {
                "coveredResources": ["cpu", "nvidia.com/gpu"],
                "flavors": [
                    {
                        "name": "a100",
                        "resources": [
                            {"name": "cpu", "nominalQuota": 16},
                            {"name": "nvidia.com/gpu", "nominalQuota": "8"},
                        ],
                    }
                ],
            }
        ]
    },
    "status": {
        "flavorsUsage": [
            {
                "name": "a100",
                "resources": [{"name": "nvidia.com/gpu", "total": "5", "borrowed": "0"}],
            }
        ]
    },
}


def test_a_queue_has_the_quota_of_the_one_it_leads_to() -> None:
    second, first = queues_of([_local("b"), _local("a")], [_CLUSTER])[::-1]
    assert (first.name, second.name) == ("a", "b")
    assert (first.cluster_queue, first.pending, first.admitted, first.problem) == ("all", 2, 1, "")
    assert [(q.flavor, q.resource, str(q.nominal), str(q.used)) for q in first.quotas] == [
        ("a100", "cpu", "16", "0"),
        ("a100", "nvidia.com/gpu", "8", "5"),
    ]


def test_a_queue_without_quota_is_one_whose_cluster_queue_may_not_be_read() -> None:
    (queue,) = queues_of([_local("a", active=False)], [])
    assert queue.quotas == ()
    assert "Can't submit" in queue.problem


def test_a_queue_says_why_the_one_that_it_leads_to_admits_nothing() -> None:
    stopped = {"type": "Active", "status": "False", "message": "Can't admit new workloads: stopped"}
    cluster = {**_CLUSTER, "status": {"conditions": [stopped]}}
    (queue,) = queues_of([_local("a", active=False)], [cluster])
    assert queue.problem == (
        "Can't submit new workloads to clusterQueue: Can't admit new workloads: stopped"
    )


def test_a_queue_that_leads_nowhere_says_so() -> None:
    (queue,) = queues_of([_local("a", active=False, reason="ClusterQueueDoesNotExist")], [])
    assert queue.problem == "there is no ClusterQueue all"


def test_a_queue_that_kueue_has_not_looked_at_yet_has_nothing() -> None:
    (queue,) = queues_of([{"metadata": {"name": "new"}}], [_CLUSTER])
    assert (queue.pending, queue.cluster_queue, queue.problem) == (0, "", "")
