"""The benchmarks start when they are called by their path, whatever their files are called."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


NAMED = (
    "clusters", "dashboard", "elastic", "local", "metrics", "mpi", "mpijobs", "operator",
    "recovery", "slurm", "ssh",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_benchmark_names_its_measurements(name: str) -> None:
    command = [sys.executable, str(BENCHMARKS / f"{name}.py"), "nonsense"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stdout.startswith("there is no nonsense; there are ")


SUITE = """
import sys
from benchmarks import suite

def rows(chosen):
    for value in chosen:
        if value is None:
            raise LookupError("there is none")
        yield suite.Row("a figure", value, "s", 1.0)

values = {"fast": 0.5, "slow": 1.5, "lost": None}
sys.exit(suite.run(sys.argv[1:], values, rows, LookupError))
"""


@dataclass(frozen=True)
class Case:
    names: tuple[str, ...]
    status: int
    last: str


@pytest.mark.parametrize(
    "case",
    [
        Case(("fast",), 0, "ok"),
        Case(("slow", "fast"), 1, "ok"),
        Case(("fast", "slow"), 1, "MISSED"),
        Case(("lost",), 2, "cannot be measured: there is none"),
        Case((), 2, "cannot be measured: there is none"),
    ],
)
def test_the_exit_status_is_the_verdict(case: Case) -> None:
    command = [sys.executable, "-c", SUITE, *case.names]
    done = subprocess.run(
        command, cwd=BENCHMARKS.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == case.status, done.stderr
    assert done.stdout.rstrip().endswith(case.last)


def test_metrics_are_measured_in_short() -> None:
    command = [sys.executable, str(BENCHMARKS / "metrics.py"), "--short", "sqlite"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr  # a busy machine may miss a limit
    figures = [line.partition("  ")[0] for line in done.stdout.splitlines()]
    assert figures == [
        "sqlite: a report, p99",
        "sqlite: server, of a core",
        "sqlite: server, resident",
        "sqlite: journals: server, of a core",
        "sqlite: journals: the last report, behind",
        "sqlite: a series at 1,000 points, p50",
    ]
