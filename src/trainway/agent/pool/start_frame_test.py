from types import SimpleNamespace
from typing import Any

import pytest

from trainway.agent.base.pod_identity import PodIdentity
from trainway.agent.pool.start_frame import start_frame


def frame(mpi: Any = None, join: Any = None, **facts: Any) -> Any:
    """The start of the first of two pods on the hosts `a` and `b`, with what these say."""
    plan: Any = SimpleNamespace(id="job-1", mpi=mpi)
    role: Any = SimpleNamespace(name="w")
    identity = PodIdentity(plan, role, job_index=0, slot=0, uid="u")
    pod: Any = SimpleNamespace(identity=identity, host="a", place="w-0-0")
    placement: Any = SimpleNamespace(hosts={"w-0-0": "a", "w-0-1": "b"}, devices={})
    hosts: dict[str, Any] = {
        name: SimpleNamespace(
            facts=facts[name], address=f"10.0.0.{number}", env={}, port=22, join=join
        )
        for number, name in enumerate("ab")
    }
    return start_frame(pod, placement, 1, hosts.get)


@pytest.mark.parametrize(
    ("first", "second", "machines"),
    [
        ("h0", "h1", {"h0": "10.0.0.0", "h1": "10.0.0.1"}),
        ("h0", "localhost", {"h0": "10.0.0.0"}),
        ("ubuntu", "ubuntu", {}),
        ("h0\n10.6.6.6 example.com", "", {}),
    ],
)
def test_hosts_are_told_by_names_that_only_one_has(
    first: str, second: str, machines: dict[str, str]
) -> None:
    assert frame(a={"name": first}, b={"name": second})["machines"] == machines


def test_hosts_that_said_nothing_have_no_names() -> None:
    assert frame(a={}, b={})["machines"] == {}


def test_peers_are_reached_by_ssh_unless_there_is_another_way() -> None:
    mpi = {"secret": "key"}
    assert frame(mpi, a={"user": "me"}, b={})["peers"]["w-0-0"] == {
        "host": "a",
        "address": "10.0.0.0",
        "port": 22,
        "user": "me",
        "host_keys": [],
    }
    join = {"step": ["srun"], "home": "/n"}
    peer = {"host": "b", "address": "10.0.0.1", "join": join}
    assert frame(mpi, join, a={}, b={})["peers"]["w-0-1"] == peer
