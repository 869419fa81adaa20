from dataclasses import dataclass
from typing import Any

import pytest

from trainway.backends.ssh.section import Host, errors, pools_of
from trainway.json_types import Json


def test_a_host_has_its_own_fields_then_those_of_its_pool() -> None:
    hosts = [
        "a1",
        "you@a2",
        {
            "host": "gpu-3", "user": "me", "port": 2222, "identity": "/key", "address": "10.0.0.3",
            "cpus": 8, "memory": "32Gi", "gpus": 2, "env": {"A": 1, "C": "3"}, "options": ["-v"],
        },
    ]  # fmt: skip
    lab = {
        "hosts": hosts,
        "user": "all",
        "identity": "~/.ssh/lab",
        "python": "/opt/bin/python3",
        "env": {"A": "0", "B": 2.5},
        "options": ["-F", "~/lab.conf"],
        "outputs": "keep",
    }

    pool = pools_of({"lab": lab}, "/home/me")["lab"]

    common: Json = {
        "identity": "/home/me/.ssh/lab",
        "python": "/opt/bin/python3",
        "env": {"A": "0", "B": "2.5"},
        "options": ("-F", "/home/me/lab.conf"),
    }
    assert pool.outputs == "keep"
    assert pool.hosts == (
        Host("a1", "a1", user="all", **common),
        Host("a2", "a2", user="you", **common),
        Host(
            "gpu-3",
            "gpu-3",
            user="me",
            port=2222,
            identity="/key",
            address="10.0.0.3",
            python="/opt/bin/python3",
            env={"A": "1", "B": "2.5", "C": "3"},
            options=("-F", "/home/me/lab.conf", "-v"),
            limits={"cpus": 8, "memory": 32 * 2**30, "gpus": 2},
        ),
    )


def test_what_is_given_to_ssh() -> None:
    host = Host("a", "b", user="me", port=2222, identity="/key", options=("-F", "/file"))
    assert host.ssh() == ["-F", "/file", "-i", "/key", "-p", "2222", "-l", "me"]
    assert Host("a", "a").ssh() == []


@dataclass(frozen=True)
class Case:
    name: str
    pool: Any
    said: str


CASES = [
    Case(
        "a typing error",
        {"hosts": [{"host": "a", "prot": 1}]},
        'pools.lab.hosts[0].prot: Unknown field: did you mean "port"?',
    ),
    Case("no hosts", {"user": "me"}, "pools.lab.hosts: Required value"),
    Case(
        "an empty list",
        {"hosts": []},
        "pools.lab.hosts: Invalid value: []: should have at least 1 items",
    ),
    Case("a host without a name", {"hosts": [{"port": 22}]}, "pools.lab.hosts[0].host: Required"),
    Case(
        "an option in place of a host",
        {"hosts": ["-oProxyCommand=x"]},
        'pools.lab.hosts[0]: Invalid value: "-oProxyCommand=x": must be the name or address',
    ),
    Case("the same host twice", {"hosts": ["a", "me@a"]}, "pools.lab.hosts[1]: Duplicate value"),
    Case(
        "a port that is none",
        {"hosts": [{"host": "a", "port": 70_000}]},
        "pools.lab.hosts[0].port: Invalid value: 70000: must be less than or equal to 65535",
    ),
    Case(
        "an amount that is none",
        {"hosts": [{"host": "a", "memory": "much"}]},
        'pools.lab.hosts[0].memory: Invalid value: "much": must be an amount such as',
    ),
    Case(
        "another way with outputs",
        {"hosts": ["a"], "outputs": "sync"},
        'pools.lab.outputs: Unsupported value: "sync": supported values: "copy", "keep"',
    ),
    Case(
        "hosts that are no list",
        {"hosts": "a1"},
        'pools.lab.hosts: Invalid value: "a1": must be a list',
    ),
    Case("no pool at all", "a1", 'pools.lab: Invalid value: "a1": must be an object'),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_wrong_is_said_with_its_path(case: Case) -> None:
    (error,) = errors({"lab": case.pool}, ("pools",))
    assert str(error).startswith(case.said)


def test_a_pool_is_called_by_a_name_that_a_directory_can_have() -> None:
    (error,) = errors({"../lab": {"hosts": ["a"]}}, ("pools",))
    assert str(error).startswith("pools[../lab]: Forbidden: each name must match")


def test_two_entries_of_one_host_are_told_apart_by_their_names() -> None:
    hosts = [{"host": "a", "port": 1}, {"host": "a", "port": 2, "name": "b"}]
    assert list(errors({"lab": {"hosts": hosts}}, ("pools",))) == []
    assert [host.name for host in pools_of({"lab": {"hosts": hosts}}, "")["lab"].hosts] == [
        "a",
        "b",
    ]
