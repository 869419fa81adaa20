from typing import Any

import pytest

from trainway.agent.host_names import hosts_file, mentions_pods
from trainway.agent.plan import Plan


def plan(command: list[str], pods: int = 2) -> Plan:
    container = {"name": "main", "image": "x", "command": command}
    job: dict[str, Any] = {
        "completions": pods,
        "parallelism": pods,
        "completionMode": "Indexed",
        "template": {"spec": {"containers": [container]}},
    }
    jobset = {
        "metadata": {"name": "set"},
        "spec": {"replicatedJobs": [{"name": "w", "replicas": 2, "template": {"spec": job}}]},
    }
    return Plan({"version": 1, "id": "i", "name": "set", "namespace": "ns", "jobset": jobset})


@pytest.mark.parametrize(
    ("command", "mentioned"),
    [
        (["curl", "http://set-w-0-0.set:80"], True),
        (["curl", "http://127.0.0.1:80"], False),
        (["echo", "set-up"], False),
    ],
)
def test_only_a_jobset_that_names_its_pods_needs_names(
    command: list[str], *, mentioned: bool
) -> None:
    assert mentions_pods(plan(command)) is mentioned


def test_every_pod_has_its_names_below_those_of_the_machine() -> None:
    lines = hosts_file(plan([]), "127.0.0.1 localhost\n").splitlines()
    assert lines[0] == "127.0.0.1 localhost"
    assert lines[1] == (
        "127.0.0.1 set-w-0-0 set-w-0-0.set set-w-0-0.set.ns.svc set-w-0-0.set.ns.svc.cluster.local"
    )
    assert [line.split()[1] for line in lines[1:]] == [
        "set-w-0-0",
        "set-w-0-1",
        "set-w-1-0",
        "set-w-1-1",
    ]
