import os
import subprocess
import sys
from pathlib import Path

import pytest

from trainway.sdk.functions import FunctionCall
from trainway.sdk.kubeflow.preparation import prepared

TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--no-python"]


def call(*packages: str) -> FunctionCall:
    return FunctionCall("train", "def train(): ...", "json", "[[], {}]", packages, ("http://a",))


@pytest.mark.parametrize("launcher", [[], ["mpirun"], TORCHRUN])
def test_nothing_to_install_changes_nothing(launcher: list[str]) -> None:
    assert prepared(launcher, call()) == launcher


@pytest.mark.parametrize("launcher", [[], ["mpirun"]])
def test_other_launchers_need_none_of_the_packages(launcher: list[str]) -> None:
    assert prepared(launcher, call("numpy")) == launcher


def test_the_launcher_itself_may_come_from_a_package(tmp_path: Path) -> None:
    uv = tmp_path / "uv"
    uv.write_text(
        "#!/bin/sh\n"
        'while [ "$1" != --target ]; do shift; done\n'
        'mkdir -p "$2/torch/distributed"\n'
        'echo "import sys; print(sys.argv[1:])" > "$2/torch/distributed/run.py"\n'
    )
    uv.chmod(0o755)
    program = prepared(TORCHRUN, call("a-torch-of-ours"))
    done = subprocess.run(
        [sys.executable, *program[1:], "python", "-c", "boot"],
        env={
            "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
            "TRAINWAY_WORK_DIR": str(tmp_path),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == [
        "installing a-torch-of-ours",
        "['--no-python', 'python', '-c', 'boot']",
    ], done.stderr
