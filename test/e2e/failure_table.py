"""How failures are told: one table in the documentation, the same on every backend.

Each row is a gang that really runs and fails, on every backend; see `probe_table` for where.
"""

import re
from dataclasses import dataclass
from typing import Final

from documented_table import DocumentedTable
from example_table import Place
from installation import TIMEOUT_S

TABLE: Final = DocumentedTable("docs/running.md", "when-it-fails")
SAID: Final = "What is said"
WRITTEN: Final = "With the last lines"
NODES: Final = 3
FIGURES: Final = re.compile(r": (its peak was [\d.]+ [KMG]iB and )?its limit is 100\.0 MiB")
"""What is said of memory, where a backend knows it; the table has what all of them say."""


@dataclass(frozen=True)
class Failure:
    """What the node of rank 1 does while the others would run on."""

    name: str
    what: str
    """As the table has it."""
    script: str
    written: str
    """What it writes to stderr before, which is told too."""
    memory: str = ""
    restarts: int = 0

    def __str__(self) -> str:
        return self.name

    @property
    def command(self) -> str:
        """For the shell of each node. One that is process 1 of a pod cannot kill itself."""
        written = self.written.replace("attempt 1", "attempt $TRAINWAY_RESTART_ATTEMPT")
        return (
            'if [ "$TRAINWAY_RANK" != 1 ]; then trap "exit 143" TERM; sleep 600 & wait; fi; '
            f'echo "{written}" >&2; sh -c "{self.script}"'
        )


FAILURES: Final = [
    Failure("exit", "exits with 7", "exit 7", "ValueError: the rate is negative"),
    Failure("signal", "is killed by something other than Trainway", "kill -KILL \\$\\$", "epoch 3"),
    Failure(
        "memory",
        "uses more memory than `--memory`",
        "exec python3 -c 'bytearray(512 << 20)'",
        "loading everything",
        memory="100Mi",
    ),
    Failure(
        "restarts",
        "fails again after every restart",
        "exit 3",
        "no data in attempt 1",
        restarts=1,
    ),
]


def assert_it_is_told_as_documented(failure: Failure, place: Place) -> None:
    """Run a gang that fails, and compare what is said with the table."""
    words = ["run", "--on", place.on, "--name", failure.name, "--nodes", str(NODES)]
    words += place.memory(failure.memory) if failure.memory else []
    words += ["--restarts", str(failure.restarts), "--", "sh", "-c", failure.command]
    printed = place.installation.start(*words).communicate(timeout=TIMEOUT_S)[0]
    (said,) = re.findall(rf"^{failure.name}: Failed after [^:]+: (.*)$", printed, re.MULTILINE)
    told = place.installation.job(failure.name)["status"]["failure"]
    assert told["summary"] == said, printed
    assert (told["node"], told["rank"]) == ("node-1", 1)
    assert f"  node-1 | {failure.written}" in printed.splitlines(), printed
    for column, text in ((SAID, FIGURES.sub("", said)), (WRITTEN, failure.written)):
        TABLE.check(column, {failure.what: f"`{text}`"})
