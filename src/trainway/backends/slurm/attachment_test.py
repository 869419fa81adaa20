import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from trainway.backends.slurm.attachment import attachment
from trainway.backends.slurm.section import ConfiguredCluster
from trainway.errors import ConflictError

RECORDS: list[dict[str, Any]] = [
    {
        "type": "placement",
        "token": "12_5.0",
        "job": "17",
        "hosts": {"node-0-0": "n1", "node-0-1": "n2"},
        "groups": {"n2": 1},
    },
    {"type": "pod", "pod": "node-0-0", "containers": [{"name": "main", "pid": 7}]},
    {"type": "pod", "pod": "node-0-1", "containers": [{"name": "main", "pid": 8}]},
]


def handle(cluster: ConfiguredCluster) -> dict[str, Any]:
    return {"id": "abc", "cluster": cluster.to_dict()}


def test_a_step_leads_beside_the_pod() -> None:
    place = attachment(handle(ConfiguredCluster("hpc", "me@hpc", port=2222)), RECORDS, rank=1)
    assert place["host"] == "n2"
    assert place["program"] == ["ssh", "-p", "2222", "me@hpc"]
    assert "processes" not in place
    *shell, script, name = shlex.split(place["remote"]["main"])
    assert (shell, name) == (["exec", "sh", "-c"], "sh")
    words = shlex.split(script)
    assert words[:2] == ["exec", "srun"]
    assert {"--overlap", "--jobid=17", "--nodelist=n2", "--het-group=1"} < set(words)
    assert words[-3:] == ["abc", "8", "$@"]


def test_the_step_finds_slurm_where_the_cluster_has_it() -> None:
    env = {"PATH": "/opt/slurm/bin:/bin", "HF_TOKEN": "hush"}
    (remote,) = attachment(handle(ConfiguredCluster("hpc", "hpc", env=env)), RECORDS)[
        "remote"
    ].values()
    assert shlex.split(remote)[3].startswith("export PATH=/opt/slurm/bin:/bin; exec srun ")
    assert "hush" not in remote


def test_the_command_comes_after_it_whatever_it_says(tmp_path: Path) -> None:
    srun = tmp_path / "srun"
    srun.write_text("#!/bin/sh\nwhile [ $# -gt 2 ]; do shift; done\nprintf '%s|' \"$@\"\n")
    srun.chmod(0o700)
    cluster = ConfiguredCluster("here", env={"PATH": f"{tmp_path}:/usr/bin:/bin"})
    place = attachment(handle(cluster), RECORDS)
    words = ["echo", "a  b $HOME 'c'"]
    line = f"{place['remote']['main']} {shlex.join(words)}"
    done = subprocess.run([*place["program"], line], capture_output=True, text=True, check=True)
    assert done.stdout == "".join(f"{word}|" for word in words)


def test_a_login_node_needs_no_ssh() -> None:
    place = attachment(handle(ConfiguredCluster("here")), RECORDS)
    assert place["program"] == ["sh", "-c"]
    assert "--nodelist=n1" in place["remote"]["main"]
    assert "--het-group" not in place["remote"]["main"]


def test_a_node_that_an_elastic_job_got_later_has_a_job_of_its_own() -> None:
    grown = [*RECORDS[1:], {**RECORDS[0], "jobs": {"n2": "18"}}]
    there = [attachment(handle(ConfiguredCluster("here")), grown, rank=rank) for rank in (0, 1)]
    assert "--jobid=17" in there[0]["remote"]["main"]
    assert "--jobid=18" in there[1]["remote"]["main"]


def test_a_pod_without_a_node_cannot_be_reached() -> None:
    with pytest.raises(ConflictError, match="on which node"):
        attachment(handle(ConfiguredCluster("here")), RECORDS[1:])
