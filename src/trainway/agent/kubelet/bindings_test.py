from dataclasses import dataclass

import pytest

from trainway.agent.kubelet.bindings import Binding, PathMap, needed


@dataclass(frozen=True)
class Case:
    text: str
    expected: str


BINDINGS = [
    Binding("/v/a", "/etc/mpi"),
    Binding("/v/b", "/etc/mpi/deep"),
    Binding("/v/c", "/c/"),
]
PATHS = PathMap(BINDINGS)
CASES = (
    Case("/etc/mpi", "/v/a"),
    Case("/etc/mpi/hostfile", "/v/a/hostfile"),
    Case("/etc/mpi/deep/x", "/v/b/x"),
    Case("/etc/mpi2", "/etc/mpi2"),
    Case("/c/x", "/v/c/x"),
    Case("see /etc/mpi", "see /etc/mpi"),
    Case("--hostfile=/etc/mpi/hostfile", "--hostfile=/v/a/hostfile"),
    Case("a=/etc/mpi", "a=/etc/mpi"),
    Case("", ""),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.text)
def test_argument(case: Case) -> None:
    assert PATHS.command([case.text]) == [case.expected]


def test_environment_has_no_options() -> None:
    env = {"A": "/etc/mpi/x", "B": "--a=/etc/mpi"}
    assert PATHS.environment(env) == {"A": "/v/a/x", "B": "--a=/etc/mpi"}


def test_a_host_path_at_its_own_place_needs_nothing() -> None:
    same, fixed = Binding("/data", "/data/"), Binding("/data", "/data", read_only=True)
    inner, outer = Binding("/v/2", "/x/y"), Binding("/v/1", "/x")
    assert needed([inner, same, fixed, outer]) == [fixed, outer, inner]
    assert str(PathMap([same])) == ""
    assert "/etc/mpi -> /v/a" in str(PATHS)
