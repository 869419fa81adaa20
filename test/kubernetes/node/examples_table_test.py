"""The same examples on every backend: this machine, hosts, and pods.

A new backend is a name and a fixture that gives a `Place`; the examples are in `example_table.py`.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import pytest
import yaml
from cluster.access import Access
from environments import TORCH, environment, require_mpirun
from example_table import CLUSTER, EXAMPLES, HOSTS, LOCAL, Example, Place
from installation import Installation
from node_operator import NodeOperator
from ssh_pool import pool_of

from ssh_hosts import SshHosts

BACKENDS: Final[Mapping[str, str]] = {LOCAL: "this_machine", HOSTS: "hosts", CLUSTER: "pods"}
"""The fixture of each backend."""


@pytest.fixture(scope="module")
def home(
    node_cluster: Access, ssh_hosts: SshHosts, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installation]:
    """One Trainway for all backends; the context of the cluster and the pool are called `test`."""
    require_mpirun()
    config = yaml.safe_load(node_cluster.kubeconfig.read_text())
    (context,) = (each for each in config["contexts"] if each["name"] == config["current-context"])
    context["name"] = config["current-context"] = CLUSTER.partition("/")[2]
    kubeconfig = tmp_path_factory.mktemp("kubeconfig") / "config"
    kubeconfig.write_text(yaml.safe_dump(config))
    variables = environment(*TORCH).variables() | {"KUBECONFIG": str(kubeconfig)}
    with pool_of(ssh_hosts, tmp_path_factory.mktemp("home"), variables) as installation:
        yield installation


@pytest.fixture(scope="module")
def this_machine(home: Installation) -> Place:
    return Place(home, LOCAL)


@pytest.fixture(scope="module")
def hosts(home: Installation) -> Place:
    return Place(home, HOSTS)


@pytest.fixture
def pods(
    home: Installation,
    node_operator: NodeOperator,
    builtin_runtimes: None,
    host_namespace: str,
) -> Place:
    """The node cluster, whose pods have the programs of this machine."""
    return Place(home, f"{CLUSTER}/{host_namespace}")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_an_example_ends_alike_on_every_backend(
    example: Example, backend: str, this_machine: Place, request: pytest.FixtureRequest
) -> None:
    place: Place = request.getfixturevalue(BACKENDS[backend])

    result = place.result(example)

    if backend != LOCAL:
        assert result == this_machine.result(example)
