"""What measurements are made with: a home for a while, our command, a clock and a doorbell."""

import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
TRAINWAY = str(Path(sys.executable).with_name("trainway"))


@contextlib.contextmanager
def scratch_home() -> Iterator[Path]:
    """A home directory that this process and its commands use, gone at the end."""
    folder = Path(tempfile.mkdtemp(prefix="trainway-bench-"))
    os.environ["TRAINWAY_HOME"] = str(folder)
    try:
        yield folder
    finally:
        active = json.loads(trainway("jobs", "list", "--all", "--active", "-o", "json"))["items"]
        if active:
            trainway("jobs", "delete", *(job["metadata"]["id"] for job in active))
        trainway("server", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def trainway(*words: str) -> str:
    """What a command prints."""
    done = subprocess.run(
        [TRAINWAY, *words], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"trainway {' '.join(words)}: {done.returncode}\n{done.stderr}")
    return done.stdout


def timed(call: Callable[..., object], *args: object) -> float:
    """The seconds that a call takes."""
    started = time.perf_counter()
    call(*args)
    return time.perf_counter() - started


class Doorbell:
    """A pipe that the first process of a job writes to: reading it waits for that moment."""

    def __init__(self) -> None:
        self._pipe = Path(os.environ["TRAINWAY_HOME"]) / "doorbell"
        os.mkfifo(self._pipe)
        self.command = ["/bin/sh", "-c", f"echo > {self._pipe}"]

    def wait(self) -> None:
        """Return when it rings."""
        self._pipe.read_text()


def container_job(command: list[str]) -> dict[str, Any]:
    """A JobSet of one container."""
    pod = {"restartPolicy": "Never", "containers": [{"name": "node", "command": command}]}
    job = {"backoffLimit": 0, "template": {"spec": pod}}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "bench"},
        "spec": {"replicatedJobs": [{"name": "node", "template": {"spec": job}}]},
    }


def median(values: list[float]) -> float:
    """The middle one: half of them are lower."""
    return statistics.median(values)
