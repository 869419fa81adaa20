"""An elastic torch job on this machine: it loses nodes, goes on with fewer, and grows again."""

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
import yaml
from elastic_log import next_size
from environments import REPOSITORY, TORCH, environment
from installation import Installation, installed

pytestmark = pytest.mark.engine

HERE: Final = REPOSITORY / "test" / "e2e"
SCRIPT: Final = (
    'test ! -e "$FOLDER/hold" -o "$JOB_COMPLETION_INDEX" = 0 || exit 1; '
    f'exec torchrun {HERE / "paced_elastic.py"} "$FOLDER" --pause 0.05'
)
"""Nodes but the first fail at once as long as the test holds them back."""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Installation]:
    imports = os.pathsep.join(str(path) for path in (REPOSITORY / "examples", HERE))
    variables = environment(*TORCH).variables() | {"PYTHONPATH": imports, "OMP_NUM_THREADS": "1"}
    with installed(tmp_path, variables) as installation:
        yield installation


def submitted(home: Installation, folder: Path) -> str:
    """A job of two to four nodes."""
    folder.mkdir()
    trainer = {
        "numProcPerNode": 1,
        "command": ["sh", "-c", SCRIPT],
        "env": [{"name": "FOLDER", "value": str(folder)}],
    }
    job = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "elastic"},
        "spec": {"runtimeRef": {"name": "torch-distributed"}, "trainer": trainer},
    }
    file = folder / "job.yaml"
    file.write_text(yaml.safe_dump(job))
    return home.submit("--nodes", "2:4", str(file))


def kill_node(folder: Path, node: int) -> None:
    os.kill(int((folder / f"torchrun-{node}").read_text()), signal.SIGKILL)


def sizes(home: Installation, job: str) -> list[str]:
    events = home.json("jobs", "events", job)["items"]
    return [event["message"] for event in events if event["reason"] == "NodesChanged"]


def test_a_node_is_lost_and_comes_back_without_a_restart(
    home: Installation, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    job = submitted(home, folder)
    with home.follow_logs(job) as log:
        first = next_size(log, 4)
        (folder / "hold").touch()
        kill_node(folder, 3)
        fewer = next_size(log, 3)
        (folder / "hold").unlink()
        again = next_size(log, 4)
        (folder / "finish").touch()
        assert log.stdout is not None
        rest = log.stdout.read()
    home.run("jobs", "wait", job)

    assert first < fewer < again
    assert re.search(r"done after \d+ steps with 4 nodes", rest)
    status = home.job(job)["status"]
    assert (status["phase"], status["restarts"]) == ("Succeeded", 0)
    told = sizes(home, job)
    assert told[:2] == ["runs with 4 of 4 nodes", "runs with 3 of 4 nodes"]
    assert told[-1] == "runs with 4 of 4 nodes"


def test_below_the_minimum_the_job_fails(home: Installation, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    job = submitted(home, folder)
    with home.follow_logs(job) as log:
        next_size(log, 4)
        (folder / "hold").touch()
        for node in (1, 2, 3):
            kill_node(folder, node)
    home.run("jobs", "wait", job, code=4)
    status = home.job(job)["status"]
    assert status["phase"] == "Failed"
    events = home.json("jobs", "events", job)["items"]
    (too_few,) = [event for event in events if event["reason"] == "TooFewNodes"]
    assert too_few["message"] == "1 of at least 2 nodes are left"
