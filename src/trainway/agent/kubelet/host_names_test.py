from typing import Any

import pytest

from trainway.agent.base.plan import Plan
from trainway.agent.kubelet.host_names import NameMap, hosts_file, mentions_pods


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


def test_machines_are_found_by_their_own_names_first() -> None:
    machines = {"h1": "10.0.0.1", "h2": "10.0.0.2"}
    lines = hosts_file(plan([]), "127.0.1.1 h1\n", {}, machines).splitlines()
    assert lines[:3] == ["10.0.0.1 h1", "10.0.0.2 h2", "127.0.1.1 h1"]


def test_pods_elsewhere_have_their_own_addresses() -> None:
    lines = hosts_file(plan([]), "", {"w-0-1": "10.0.0.2"}).splitlines()
    assert [line.split()[:2] for line in lines[:2]] == [
        ["127.0.0.1", "set-w-0-0"],
        ["10.0.0.2", "set-w-0-1"],
    ]


@pytest.mark.parametrize(
    ("text", "replaced"),
    [
        ("set-w-0-1", "10.0.0.2"),
        ("tcp://set-w-0-1.set:29500", "tcp://10.0.0.2:29500"),
        ("set-w-0-0.set.ns.svc.cluster.local,set-w-0-1.set.ns.svc", "127.0.0.1,10.0.0.2"),
        ("Ask set-w-0-1.", "Ask 10.0.0.2."),
        ("set-w-0-10 my-set-w-0-1 set-w-0-1-data", "set-w-0-10 my-set-w-0-1 set-w-0-1-data"),
        ("set-w-0-1.elsewhere.org", "set-w-0-1.elsewhere.org"),
    ],
)
def test_names_become_addresses(text: str, replaced: str) -> None:
    assert NameMap(plan([]), {"w-0-1": "10.0.0.2"}).text(text) == replaced


def test_names_become_addresses_in_containers_and_config_maps_only() -> None:
    name = "set-w-0-1"
    container = {"name": name, "args": [name], "env": [{"name": "A", "value": name}]}
    jobset = {"spec": {"containers": [container]}}
    objects = [
        {"kind": "ConfigMap", "metadata": {"name": name}, "data": {"k": name}},
        {"kind": "Secret", "stringData": {"k": name}},
    ]
    names = NameMap(plan([]), {"w-0-1": "10.0.0.2"})
    changed = names.plan({"jobset": jobset, "objects": objects})
    assert changed["jobset"]["spec"]["containers"] == [
        {"name": name, "args": ["10.0.0.2"], "env": [{"name": "A", "value": "10.0.0.2"}]}
    ]
    assert changed["objects"] == [
        {"kind": "ConfigMap", "metadata": {"name": name}, "data": {"k": "10.0.0.2"}},
        {"kind": "Secret", "stringData": {"k": name}},
    ]
