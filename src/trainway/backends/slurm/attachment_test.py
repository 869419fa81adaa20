import shlex
from typing import Any

import pytest

from trainway.backends.slurm.attachment import attachment
from trainway.backends.slurm.clusters import Cluster
from trainway.errors import ConflictError

RECORDS: list[dict[str, Any]] = [
    {"type": "placement", "token": "17.0", "hosts": {"node-0-0": "n1", "node-0-1": "n2"}},
    {"type": "pod", "pod": "node-0-0", "containers": [{"name": "main", "pid": 7}]},
    {"type": "pod", "pod": "node-0-1", "containers": [{"name": "main", "pid": 8}]},
]


def handle(cluster: Cluster) -> dict[str, Any]:
    return {"id": "abc", "cluster": cluster.to_dict()}


def test_a_step_leads_beside_the_pod() -> None:
    place = attachment(handle(Cluster("hpc", "me@hpc", port=2222)), RECORDS, rank=1)
    assert place["host"] == "n2"
    assert place["program"] == ["ssh", "-p", "2222", "me@hpc"]
    assert "processes" not in place
    words = shlex.split(place["remote"]["main"])
    assert words[:2] == ["exec", "srun"]
    assert {"--overlap", "--jobid=17", "--nodelist=n2"} < set(words)
    assert words[-2:] == ["abc", "8"]


def test_a_login_node_needs_no_ssh() -> None:
    place = attachment(handle(Cluster("here")), RECORDS)
    assert place["program"] == ["sh", "-c"]
    assert "--nodelist=n1" in place["remote"]["main"]


def test_a_pod_without_a_node_cannot_be_reached() -> None:
    with pytest.raises(ConflictError, match="on which node"):
        attachment(handle(Cluster("here")), RECORDS[1:])
