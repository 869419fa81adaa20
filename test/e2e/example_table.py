"""The same examples on every backend: one table, the same result, the same exit status.

A new backend is a `Place`; a new example is a row. The tests with hosts and those with pods use it.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from installation import TIMEOUT_S, Installation

LOCAL: Final = "local"
HOSTS: Final = "ssh/test"
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
