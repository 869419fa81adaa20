from __future__ import annotations

from typing import Any

from trainway.agent.pool.holding.nodes import host_of
from trainway.json_types import Json

AMOUNTS = {"cpus": 2.0, "memory": 0, "gpus": 0.5}


def held(**cluster: Any) -> Json:
    told = {"name": "hpc", "env": {"PATH": "/opt/bin"}, **cluster}
    return {"cluster": told, "job": "7", "directory": "/home/me/jobs/1", "env": {"TOKEN": "x"}}


def test_a_node_is_reached_by_a_step_of_its_job() -> None:
    host = host_of("dev", held(), "n1", AMOUNTS)
    shell, option, line = host["command"]
    assert (host["name"], shell, option) == ("n1@dev", "sh", "-c")
    assert line.startswith("export PATH=/opt/bin; exec srun --jobid=7 --nodes=1 --ntasks=1 ")
    assert "--nodelist=n1 --overlap --mem=0" in line
    attach = "python3 /home/me/jobs/1/agent.pyz host attach --home /home/me/jobs/1/nodes/n1"
    assert line.endswith(attach)
    assert host["lasting"]
    assert host["join"]["home"] == "/home/me/jobs/1/nodes/n1"
    assert host["join"]["step"][:2] == ["srun", "--jobid=7"]
    assert host["env"] == {"TOKEN": "x"}


def test_through_a_login_node_the_same_words_go_over_ssh() -> None:
    host = host_of("dev", held(login="me@login", port=2222, python="~/py"), "n1", AMOUNTS)
    assert host["command"][0] == "ssh"
    assert host["command"][-2] == "me@login"
    assert '"$HOME"/py /home/me/jobs/1/agent.pyz' in host["command"][-1]
    assert host["program"] == ["ssh", "-p", "2222", "me@login"]
    assert host["step"].endswith("--jobid=7 --nodelist=n1")


def test_a_node_has_what_was_asked_for() -> None:
    host = host_of("dev", held(), "n1", AMOUNTS)
    assert (host["cpus"], host["memory"], host["gpus"]) == (2.0, None, 1)
