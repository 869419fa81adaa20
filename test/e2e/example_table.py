"""The same examples on every backend: one table, the same result, the same exit status.

Its rows are `EXAMPLES`. Its columns are this machine, hosts and Slurm in `example_table_test.py`,
and pods in `test/kubernetes/node/examples_in_pods_test.py`. A new backend is a `Place`.
"""

import fcntl
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from installation import TIMEOUT_S, Installation

LOCAL: Final = "local"
HOSTS: Final = "ssh/test"
SLURM: Final = "slurm/test"
CLUSTER: Final = "k8s/test"


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
    differs: str = "(?!)"
    """A pattern of what each backend calls otherwise."""

    def __str__(self) -> str:
        return self.name

    def result_in(self, printed: str) -> list[str]:
        """The result, in the order of words: that of lines of several nodes is not fixed."""
        found = sorted(re.findall(self.result, re.sub(self.differs, "-", printed)))
        assert len(found) == self.count, printed
        return found


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
        "task",
        "examples/task.yaml",
        result=r"setup on node [01]|node [01] of 2, head -: step [123]",
        count=8,
        differs=r"(?<=head )\S+(?=:)",
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
    machines: int = 1
    """On how many of them each example is."""

    def memory(self, amount: str) -> list[str]:
        """The options for memory. What the configuration of a cluster of Slurm says counts more."""
        is_on_slurm = self.on == SLURM
        return ["--memory", amount, *(["--slurm", f"mem={amount[:-1]}"] if is_on_slurm else [])]

    def result(self, example: Example) -> list[str]:
        """Run an example to the end that it should have."""
        words = ["run", "--on", self.on, "--name", example.name, *example.words.split()]
        printed = self.installation.run(*words, code=example.code, timeout_s=TIMEOUT_S)
        assert self.machines_of(example) >= self.machines
        return example.result_in(printed)

    def machines_of(self, example: Example) -> int:
        """On how many machines the job was that ran last."""
        nodes = self.installation.job(example.name)["status"]["nodes"]
        return len({node.get("host") for node in nodes})


@dataclass(frozen=True)
class Yardstick:
    """What examples come to on this machine; the first of all workers to ask finds out."""

    folder: Path

    def result(self, installation: Installation, example: Example) -> list[str]:
        """The result with `--on local`."""
        file = self.folder / f"{example}.json"
        with (self.folder / f"{example}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not file.exists():
                file.write_text(json.dumps(Place(installation, LOCAL).result(example)))
        found: list[str] = json.loads(file.read_text())
        return found


@pytest.fixture(scope="session")
def yardstick(tmp_path_factory: pytest.TempPathFactory) -> Yardstick:
    """The one of this run of the tests."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "example-table"
    folder.mkdir(exist_ok=True)
    return Yardstick(folder)
