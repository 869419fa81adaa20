"""The benchmarks start when they are called by their path, whatever their files are called."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.mark.parametrize("name", ["clusters", "local", "operator", "slurm", "ssh"])
def test_benchmark_names_its_measurements(name: str) -> None:
    command = [sys.executable, str(BENCHMARKS / f"{name}.py"), "nonsense"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stdout.startswith("there is no nonsense; there are ")
