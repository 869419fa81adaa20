"""What the server reads of a job that has put something else where its files should be."""

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from trainway.agent.kubelet.long_lines import LINE_LIMIT
from trainway.engine.testing import jobset
from trainway.server.testing import RunningServer, Starts


@dataclass(frozen=True)
class Case:
    name: str
    command: str
    why: str


INSIDE = "cd $TRAINWAY_OUTPUT_DIR; mkdir .trainway; cd .trainway; "
REFUSED = [
    Case("link", INSIDE + "ln -s /etc/passwd result.json", "a link"),
    Case("pipe", INSIDE + "mkfifo result.json", "a pipe"),
    Case("folder", INSIDE + "mkdir result.json", "a directory"),
    Case("large", INSIDE + "truncate -s 17M result.json", "larger than 16 MiB"),
    Case(
        "above",
        "cd $TRAINWAY_OUTPUT_DIR; mkdir ../elsewhere; echo {} > ../elsewhere/result.json; "
        "ln -s ../elsewhere .trainway",
        "a part of its path is a link",
    ),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_only_a_file_of_the_job_is_its_value(server: RunningServer, case: Case) -> None:
    name = f"refused-{case.name}"
    server.submit(jobset(name, case.command))
    assert server.wait(name)["status"]["phase"] == "Succeeded"
    status, error = server.error("GET", f"/jobs/{name}/result")
    assert (status, error["code"]) == (404, "not_found")
    assert f"{name} did not leave the value of a function: " in error["message"]
    assert case.why in error["message"]
    assert server.request("DELETE", f"/jobs/{name}").status == 200


def test_logs_that_are_no_files_are_left_out(server: RunningServer) -> None:
    server.submit(jobset("odd-logs", "echo hello", pods=3))
    logs = Path(server.wait("odd-logs")["status"]["jobDir"], "logs")
    (first,) = logs.glob("node-0-0.*")
    (second,) = logs.glob("node-0-1.*")
    first.unlink()
    os.mkfifo(first)
    second.unlink()
    second.symlink_to("/etc/passwd")
    for query in ("", "?tail=5", "?since=1h", "?tail=1&since=1h", "?follow=true"):
        assert server.lines("odd-logs", query) == ["hello"]
    said = (server.home / "server.log").read_text()
    assert [said.count(f"{path} is left out") for path in (first, second)] == [1, 1]
    assert "root:" not in said


def test_a_long_line_comes_in_parts(server: RunningServer) -> None:
    command = f'python3 -c \'print("x" * {3 * LINE_LIMIT}); print("end")\''
    server.submit(jobset("long-line", command))
    server.wait("long-line")
    events = server.stream("/jobs/long-line/logs")
    found = [(len(event.data["text"]), event.data.get("partial")) for event in events if event.id]
    assert found == [(LINE_LIMIT, True), (LINE_LIMIT, True), (LINE_LIMIT, None), (3, None)]


def test_a_log_has_a_limit_that_is_told(starts: Starts, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("limits: {logs_per_job: 100k}\n")
    server = starts(RunningServer(tmp_path))
    many = "i=0; while [ $i -lt 4000 ]; do echo a line of some length; i=$((i+1)); done"
    server.submit(jobset("chatty", many, pods=2))
    job = server.wait("chatty")
    assert job["status"]["phase"] == "Succeeded"
    logs = Path(job["status"]["jobDir"], "logs")
    taken = [path.stat().st_size for path in logs.iterdir()]
    assert 100_000 - 200 < sum(taken) < 100_000 + 2 * 400
    for rank in range(2):
        *_, last = server.lines("chatty", f"?rank={rank}")
        assert last.startswith("trainway: the logs of this job have reached their limit of 100 kB")
    events = server.request("GET", "/jobs/chatty/events").body["items"]
    told = [event for event in events if event["reason"] == "LogLimitReached"]
    assert len(told) == 1
    assert "limits.logs_per_job in config.yaml" in told[0]["message"]
