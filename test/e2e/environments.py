"""How tests get what the package never depends on: torch and its like, and an mpirun.

What is missing is installed: frameworks into a virtual environment in the user's cache, Open MPI
with apt-get where that is allowed. A test whose tools cannot be had is skipped with the reason; in
CI it fails, so that nothing is left out unseen.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, NoReturn

import pytest

REPOSITORY: Final = Path(__file__).resolve().parents[2]

TORCH: Final = (
    "torch>=2.6,<3",
    "numpy>=1.26,<3",
    "transformers>=4.50,<6",
    "peft>=0.14,<1",
    "accelerate>=1.2,<2",
    "mpi4py>=4,<5",
    "kubeflow>=0.2,<1",
)
KUBEFLOW_SDK: Final = ("kubeflow==0.5.0",)
TENSORBOARD: Final = (
    "--no-deps",
    "tensorboard>=2.18,<3",
    "protobuf>=5,<8",
    "packaging>=24",
    "absl-py>=2,<3",
)
"""What its writers need beside numpy, without what its pages need."""
TRL: Final = (
    "--no-deps",
    "trl>=1.16,<2",
    "datasets>=5,<6",
    "pyarrow>=24",
    "pandas>=2.2,<4",
    "xxhash>=3",
    "dill<0.4.2",
    "multiprocess<0.70.20",
)
"""What fine-tuning needs beside what TORCH has; the folder goes on the search path."""
TORCHDATA: Final = ("--no-deps", "torchdata>=0.11,<1")
"""Beside what TORCH has, as TRL above."""
DEEPSPEED: Final = (
    "--no-deps",
    "deepspeed>=0.19,<1",
    "hjson>=3.1",
    "msgpack>=1.1",
    "py-cpuinfo>=9",
    "einops>=0.8",
    "psutil>=7",
    "pydantic>=2.10,<3",
    "pydantic-core",
    "annotated-types>=0.7",
    "typing-inspection>=0.4",
    "tqdm>=4.67",
)
"""What it needs beside what TORCH has; the folder goes on the search path."""
MOTO: Final = ("moto[ec2]>=5.1,<6", "flask>=3,<4", "flask-cors>=5,<7")
MPI4PY: Final = ("mpi4py>=4,<5",)
MLX: Final = ("mlx[cpu]>=0.30,<1",)
ARRAYS: Final = ("jax>=0.4.35,<1", "xgboost>=2.1,<4", "mpi4py>=4,<5", "numpy>=1.26,<3")
USUAL: Final = (TORCH, MOTO, ARRAYS, MPI4PY, TRL, TENSORBOARD, TORCHDATA, MLX, KUBEFLOW_SDK)
"""All but the one of `make test-stress`; those first that most tests wait for."""


@dataclass(frozen=True)
class Environment:
    """A virtual environment with frameworks."""

    path: Path

    def variables(self) -> dict[str, str]:
        """The variables of a shell in which it is active."""
        search = os.pathsep.join([str(self.path / "bin"), os.environ["PATH"]])
        return {"PATH": search, "VIRTUAL_ENV": str(self.path)}

    @property
    def packages(self) -> Path:
        """Where its modules are, for the search path of another Python of the same version."""
        (found,) = self.path.glob("lib/python*/site-packages")
        return found


@cache
def environment(*requirements: str) -> Environment:
    """An environment with these requirements, made on first use."""
    tool = REPOSITORY / "tools" / "training_environment.py"
    done = subprocess.run(
        [sys.executable, str(tool), *requirements], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        unavailable(f"{', '.join(requirements)}: {last_line(done.stderr)}")
    return Environment(Path(last_line(done.stdout)))


@cache
def require_mpirun() -> None:
    """See to it that there is an mpirun."""
    if shutil.which("mpirun"):
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        unavailable("mpirun: not found, and only root can install openmpi-bin")
    with Path(tempfile.gettempdir(), "trainway-test-apt.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # apt-get does not wait for another one
        install_openmpi()


def install_openmpi() -> None:
    for command in (
        ["apt-get", "update", "-qq"],
        ["apt-get", "install", "-y", "-qq", "openmpi-bin"],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            unavailable(f"openmpi-bin: {last_line(done.stderr)}")


def unavailable(reason: str) -> NoReturn:
    """Skip the test; in CI fail it."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"cannot be had: {reason}")
    pytest.skip(f"cannot be had: {reason}")


def last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "no output"
