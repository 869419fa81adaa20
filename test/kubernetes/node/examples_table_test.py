"""The same examples on every backend: one table, the same result, the same exit status.

A new backend is a name and a fixture that gives a `Place`; a new example is a row.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import pytest
import yaml
from cluster.access import Access
from environments import TORCH, environment, require_mpirun
from installation import TIMEOUT_S, Installation, installed
from node_operator import NodeOperator

LOCAL: Final = "local"
CLUSTER: Final = "k8s/test"
BACKENDS: Final[Mapping[str, str]] = {LOCAL: "this_machine", CLUSTER: "pods"}
"""The fixture of each backend."""


@dataclass(frozen=True)
class Example:
    """How it is run, how that ends, and which of the words it prints are its result."""

    name: str
    words: str
    result: str
    """A pattern; all its matches are the result."""
    count: int
    """Of the matches."""
    code: int = 0

    def __str__(self) -> str:
        return self.name


EXAMPLES: Final = [
    Example(
        "torch-ddp",
        "examples/torch-ddp.yaml",
        result=r"epoch \d/5 loss [0-9.]+ processes 4",
        count=5,
    ),
    Example(
        "mpi",
        "examples/mpi.yaml",
        result=r"rank [0-3] of 4|sum 10: 8 MB",
        count=5,
    ),
    Example(
        "script-that-crashes",
        "--nodes 2 --procs-per-node 1 --env OMP_NUM_THREADS=1 examples/torch_ddp.py"
        " -- --samples 512 --crash-at-epoch 1",
        result=r"epoch \d/5 loss [0-9.]+ processes 2|crashing after epoch 1",
        count=2,
        code=4,
    ),
]


@dataclass(frozen=True)
class Place:
    """Where examples run."""

    installation: Installation
    on: str
    results: dict[str, list[str]] = field(default_factory=dict)
    """What came out so far, by example."""

    def result(self, example: Example) -> list[str]:
        """Run an example to the end that it should have, once; its result in the order of words."""
        if example.name not in self.results:
            words = ["run", "--on", self.on, "--name", example.name, *example.words.split()]
            printed = self.installation.run(*words, code=example.code, timeout_s=TIMEOUT_S)
            found = sorted(re.findall(example.result, printed))
            assert len(found) == example.count, printed
            self.results[example.name] = found
        return self.results[example.name]


@pytest.fixture(scope="module")
def home(node_cluster: Access, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """One Trainway for all backends; the context of the cluster is called `test`."""
    require_mpirun()
    config = yaml.safe_load(node_cluster.kubeconfig.read_text())
    (context,) = (each for each in config["contexts"] if each["name"] == config["current-context"])
    context["name"] = config["current-context"] = CLUSTER.partition("/")[2]
    kubeconfig = tmp_path_factory.mktemp("kubeconfig") / "config"
    kubeconfig.write_text(yaml.safe_dump(config))
    variables = environment(*TORCH).variables() | {"KUBECONFIG": str(kubeconfig)}
    with installed(tmp_path_factory.mktemp("home"), variables) as installation:
        yield installation


@pytest.fixture(scope="module")
def this_machine(home: Installation) -> Place:
    return Place(home, LOCAL)


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
