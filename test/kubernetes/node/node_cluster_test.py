"""The test cluster itself: what the other tests of this folder rely on."""

from pathlib import Path
from typing import Any

from cluster.access import Access
from cluster.images import BUSYBOX
from cluster.node import NodeCluster
from cluster.processes import wait_until

SCRIPT = """
name=talk-node-0-$((1 - JOB_COMPLETION_INDEX)).talk.$NAMESPACE.svc.cluster.local
until nslookup $name; do sleep 0.5; done
"""


def jobset() -> dict[str, Any]:
    container = {
        "name": "node",
        "image": BUSYBOX,
        "command": ["sh", "-c", SCRIPT],
        "env": [
            {"name": "NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}}
        ],
    }
    job = {
        "parallelism": 2,
        "completions": 2,
        "backoffLimit": 0,
        "template": {"spec": {"containers": [container], "restartPolicy": "Never"}},
    }
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "talk"},
        "spec": {"replicatedJobs": [{"name": "node", "template": {"spec": job}}]},
    }


def test_the_pods_of_a_jobset_find_each_other_by_name(node_cluster: Access, namespace: str) -> None:
    node_cluster.apply(jobset(), namespace=namespace)

    def is_complete() -> bool:
        status = node_cluster.get("jobset", "talk", "-n", namespace).get("status", {})
        return bool(status.get("terminalState") == "Completed")

    selector = "jobset.sigs.k8s.io/jobset-name=talk"
    complete = wait_until(is_complete, 180)
    log = node_cluster.kubectl("logs", "-n", namespace, "-l", selector).stdout
    assert complete, log
    assert log.count("Address: 10.") == 2, log
    if isinstance(node_cluster, NodeCluster):  # by which pods know where DNS is
        card = Path("/sys/class/net", node_cluster.network.bridge, "address").read_text().strip()
        assert card == node_cluster.network.card
