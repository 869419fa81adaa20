import subprocess
from pathlib import Path

from trainway.backends.slurm.probing import command, found
from trainway.backends.slurm.section import ConfiguredCluster
from trainway.json_types import Json

SRUN = """#!/bin/sh
while [ "$1" != sh ]; do echo "$1" >> "$0.options"; shift; done
exec "$@"
"""


def run(words: list[str], folder: Path) -> Json:
    srun = folder / "srun"
    srun.write_text(SRUN)
    srun.chmod(0o700)
    env = {"PATH": f"{folder}:/usr/bin:/bin"}
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    return found({"status": done.returncode, "stdout": done.stdout, "stderr": done.stderr})


def test_a_node_that_sees_the_files(tmp_path: Path) -> None:
    home = tmp_path / "a home"
    home.mkdir()
    cluster = ConfiguredCluster(
        "test", partition="gpu", options={"qos": "high", "mail-type": "FAIL"}
    )
    seen = run(command(cluster, str(home), "mark"), tmp_path)
    assert (seen["sees"], seen["writes"]) == (True, True)
    assert seen["python"][0] == 3
    assert seen["name"]
    options = (tmp_path / "srun.options").read_text().split()
    assert {"--partition=gpu", "--qos=high", "--immediate=30"} < set(options)
    assert not any(option.startswith("--mail") for option in options)
    assert list(home.iterdir()) == []


def test_a_node_that_does_not() -> None:
    answer = {"status": 0, "stdout": "motd of the site\nnode=n7\n", "stderr": ""}
    seen: Json = {"name": "n7", "sees": False, "writes": False, "python": [], "containers": {}}
    assert found(answer) == seen


def test_a_node_that_runs_images(tmp_path: Path) -> None:
    tools = {"apptainer": "echo apptainer version 1.4.1", "singularity": "exit 1"}
    for name, text in tools.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o700)
    seen = run(command(ConfiguredCluster("test"), str(tmp_path), "mark"), tmp_path)
    assert seen["containers"] == {"apptainer": "1.4.1"}


def test_a_job_that_is_refused() -> None:
    said = "srun: error: Unable to allocate resources: Invalid account or account/partition\n"
    failed = found({"status": 1, "stdout": "", "stderr": said})
    assert "Invalid account" in failed["problem"]
    assert "`account`" in failed["hint"]


def test_a_job_that_nobody_answers() -> None:
    assert "does not end" in found({"status": None, "stdout": "", "stderr": ""})["problem"]
