"""The log of a real server, as whatever collects logs reads it."""

import json
from pathlib import Path

from trainway.engine.testing import WAIT_FOR_FILE, jobset
from trainway.json_types import Json
from trainway.server.testing import RunningServer


def lines_of(server: RunningServer) -> list[Json]:
    return [json.loads(line) for line in (server.home / "server.log").read_text().splitlines()]


def test_every_line_of_a_job_says_which_one(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    environment = {"TRAINWAY_LOG_FORMAT": "json"}
    with RunningServer(tmp_path / "home", env=environment) as server:
        names = ("first", "second")
        jobs = {
            server.submit(jobset(name, WAIT_FOR_FILE.format(gate)))["metadata"]["id"]: name
            for name in names
        }
        for job_id in jobs:
            server.wait(job_id, "Running")
        gate.touch()
        for job_id in jobs:
            server.wait(job_id, "Succeeded")
    lines = lines_of(server)
    assert all({"ts", "level", "logger", "msg"} <= set(line) for line in lines)
    for job_id, name in jobs.items():
        mine = [line for line in lines if line.get("job_id") == job_id]
        assert {line["job"] for line in mine} == {name}
        said = [line["msg"] for line in mine]
        told = [text for text in said if text.startswith(f"job {job_id} ")]
        assert told[0] == f"job {job_id} was created on local"
        assert [f"job {job_id} is {phase}" for phase in ("Running", "Succeeded")] == [
            text for text in told if text.endswith((" is Running", " is Succeeded"))
        ]
        assert not [
            line for line in lines if job_id in line["msg"] and line.get("job_id") != job_id
        ]
    assert "stopping" in [line["msg"] for line in lines if "job_id" not in line]
