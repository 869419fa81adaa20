"""`make demo`: train a network on two nodes with two processes each, on this machine.

A torch that `python3` can import is used; else it is installed, once, into an environment of its
own. The job is examples/torch-ddp.yaml, as it is.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from training_environment import is_made

REPOSITORY = Path(__file__).resolve().parent.parent
TRAINWAY = Path(sys.executable).with_name("trainway")
NAME = "demo"
REQUIREMENTS = ("torch>=2.6,<3", "numpy>=1.26,<3")

PROBE = """
import pathlib, sysconfig, torch.distributed
scripts = pathlib.Path(sysconfig.get_path("scripts"))
assert torch.distributed.is_available() and (scripts / "torchrun").exists()
print(scripts)
"""


def main() -> int:
    """Find or install torch, run the job, and tell how it went."""
    scripts = torch_scripts()
    if scripts is None:
        return 1
    variables = {**os.environ, "PATH": os.pathsep.join([str(scripts), os.environ["PATH"]])}
    command = ["run", "examples/torch-ddp.yaml", "--name", NAME]
    print(f"$ trainway {' '.join(command)}", flush=True)
    code = subprocess.run(
        [TRAINWAY, *command], cwd=REPOSITORY, env=variables, check=False
    ).returncode
    return code or tell()


def torch_scripts() -> Path | None:
    """The folder of a torchrun that works."""
    python = shutil.which("python3")
    if python:
        done = subprocess.run([python, "-c", PROBE], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return Path(done.stdout.strip())
    if not is_made(list(REQUIREMENTS)):
        print(
            "python3 has no torch. It is installed into an environment of its own, once:\n"
            "about 5 GB, most of it CUDA libraries. Nothing else on this machine changes.",
            flush=True,
        )
    tool = Path(__file__).with_name("training_environment.py")
    made = subprocess.run(
        [sys.executable, tool, *REQUIREMENTS], stdout=subprocess.PIPE, text=True, check=False
    )
    return Path(made.stdout.strip()) / "bin" if made.returncode == 0 else None


def tell() -> int:
    """Say whether the loss fell, and where the checkpoint is."""
    job = json.loads(trainway("jobs", "show", NAME, "-o", "json"))
    text = trainway("jobs", "logs", job["metadata"]["id"])
    losses = [float(loss) for loss in re.findall(r"epoch \d+/\d+ loss ([0-9.]+)", text)]
    checkpoint = Path(job["status"]["outputDir"]) / "checkpoint.pt"
    if len(losses) < 2 or losses[-1] >= losses[0] or not checkpoint.exists():
        print(f"The job succeeded, but the loss did not fall: {losses}", file=sys.stderr)
        return 1
    print()
    print(f"The loss fell from {losses[0]} to {losses[-1]} in {len(losses)} epochs.")
    print(f"The checkpoint is {checkpoint}")
    return 0


def trainway(*words: str) -> str:
    """What a command prints."""
    return subprocess.run([TRAINWAY, *words], stdout=subprocess.PIPE, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main())
