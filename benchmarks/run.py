"""What start-up and compilation cost; `make bench` runs it. Exits 1 when a limit is missed.

Every figure is a median, since one slow run says more about the machine than about the program.
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from trainway.api.manifest import parse_manifests
from trainway.compiler.compile import Input, Options, compile_objects
from trainway.runtimes import builtin_runtime

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable
TRAINWAY = str(Path(PYTHON).with_name("trainway"))
EXAMPLE = str(ROOT / "examples" / "torch-ddp.yaml")
JOBS = 1000
JOB = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: job-%d
  namespace: default
spec:
  runtimeRef:
    name: torch-distributed
  trainer:
    numNodes: 2
    command: [torchrun, train.py]
    env:
    - {name: A, value: "1"}
    resourcesPerNode:
      requests: {cpu: 2500m}
"""


@dataclass(frozen=True)
class Figure:
    """One thing measured, and how far it may go."""

    name: str
    value: float
    unit: str
    limit: float
    more_is_better: bool = False

    @property
    def within(self) -> bool:
        """Whether the limit holds."""
        return self.value >= self.limit if self.more_is_better else self.value <= self.limit

    def row(self) -> tuple[str, str, str, str]:
        """The cells of its line in the table."""
        sign = ">=" if self.more_is_better else "<="
        value, limit = f"{self.value:.4g} {self.unit}", f"{sign} {self.limit:g} {self.unit}"
        return self.name, value, limit, "ok" if self.within else "MISSED"


def median_seconds(*actions: Callable[[], object], runs: int) -> list[float]:
    """The median time of each action, taken in turns, after one run that does not count."""
    times: list[list[float]] = [[] for _ in actions]
    for run in range(runs + 1):
        for action, taken in zip(actions, times, strict=True):
            start = time.perf_counter()
            action()
            if run:
                taken.append(time.perf_counter() - start)
    return [statistics.median(taken) for taken in times]


def command(*argv: str) -> Callable[[], object]:
    """A command, run in silence."""
    return lambda: subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)


def compile_jobs() -> None:
    """Parse, check and compile many jobs, one after the other."""
    options = Options(builtin_runtime=builtin_runtime)
    for number in range(JOBS):
        inputs = [Input(data, "job.yaml") for data in parse_manifests(JOB % number)]
        outcome = compile_objects(inputs, options)
        if outcome.errors or len(outcome.objects) != 1:
            raise SystemExit(f"the benchmark's own job does not compile: {outcome.errors}")


def measure() -> list[Figure]:
    """All figures."""
    bare, helped = median_seconds(
        command(PYTHON, "-c", "pass"), command(TRAINWAY, "--help"), runs=21
    )
    (explained,) = median_seconds(command(TRAINWAY, "explain", "-f", EXAMPLE), runs=9)
    (compiled,) = median_seconds(compile_jobs, runs=3)
    return [
        Figure("trainway --help, against python -c pass", helped / bare, "x", 3),
        Figure("trainway explain of one job", explained, "s", 0.6),
        Figure(f"{JOBS} TrainJobs in one process", JOBS / compiled, "jobs/s", 500, True),
    ]


def main() -> int:
    """Print the table."""
    figures = measure()
    rows = [("what", "median", "limit", ""), *(figure.row() for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())
    return 0 if all(figure.within for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
