"""`trainway runs`, and the table that is shown while the jobs of a run go on."""

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from trainway.cli.app import app
from trainway.cli.job_text import utc_now
from trainway.cli.pipeline_text import run_table
from trainway.cli.run_table import drawing
from trainway.json_types import Json
from trainway.sdk.testing import FakeServer

TRIALS = [{"lr": "0.10"}, {"lr": "1e-3"}, {"lr": "1"}]


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    monkeypatch.setenv("TRAINWAY_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TRAINWAY_SERVER", raising=False)
    with FakeServer(tmp_path / "home") as server:
        yield server


def invoke(*args: str) -> Result:
    return CliRunner().invoke(app, ["runs", *args], prog_name="trainway")


def run(fake: FakeServer) -> list[Json]:
    """One that has failed, one that runs and one that waits."""
    jobs = fake.runs.submit("sweep", {"parameters": TRIALS})
    metrics = [{"name": "loss", "value": "0.31"}]
    fake.update(jobs[0], "Failed", progress={"metrics": metrics})
    fake.update(jobs[1], "Running")
    fake.update(jobs[2], "Queued")
    return jobs


def test_runs_are_listed(fake: FakeServer) -> None:
    assert invoke("list").stderr == "there are no runs\n"
    run(fake)
    header, row = invoke("list").stdout.splitlines()
    assert header.split() == [
        "NAME", "ID", "PHASE", "JOBS", "SUCCEEDED", "FAILED", "RUNNING", "WAITING", "AGE",
    ]  # fmt: skip
    assert row.split()[:2] + row.split()[3:8] == ["sweep", "id0000", "3", "0", "1", "1", "1"]
    assert invoke("list", "-o", "name").stdout == "id0000\n"
    (item,) = json.loads(invoke("list", "-o", "json").stdout)["items"]
    assert item["metadata"]["name"] == "sweep"


def test_a_run_is_shown_with_its_parameters_and_metrics(fake: FakeServer) -> None:
    run(fake)
    said, _, header, *rows = invoke("show", "sweep").stdout.splitlines()
    assert said == "sweep: 3 jobs: 1 failed, 1 running, 1 waiting"
    assert header.split() == ["NAME", "ID", "PHASE", "lr=", "loss", "DURATION"]
    assert rows[0].split() == ["sweep-0", "id0000", "Failed", "0.10", "0.31"]
    assert rows[1].split() == ["sweep-1", "id0001", "Running", "1e-3"]
    assert len(json.loads(invoke("show", "id0000", "-o", "json").stdout)["jobs"]) == 3
    result = invoke("show", "other")
    assert result.exit_code == 3
    assert "there is no run 'other'" in result.stderr


def test_all_jobs_of_a_run_are_read_ended_and_deleted(fake: FakeServer) -> None:
    first, second, _ = run(fake)
    fake.log(first, "one")
    fake.log(second, "two")
    assert invoke("logs", "sweep").stdout.splitlines()[:4] == [
        "==> sweep-0 <==", "node-0 | one", "==> sweep-1 <==", "node-0 | two",
    ]  # fmt: skip
    assert invoke("logs", "--failed", "sweep").stdout == "==> sweep-0 <==\nnode-0 | one\n"
    assert invoke("cancel", "sweep").stdout == "sweep: 3 jobs: 1 failed, 2 cancelled\n"
    assert invoke("rerun", "--failed", "sweep").stdout == "sweep-0 id0003\n"
    assert json.loads(invoke("show", "sweep", "-o", "json").stdout)["status"]["phases"] == {
        "Cancelled": 2, "Pending": 1,
    }  # fmt: skip
    gone = "sweep-1 deleted\nsweep-2 deleted\nsweep-0 deleted\n"
    assert invoke("delete", "sweep").stdout == gone


def test_the_logs_of_all_jobs_are_followed_to_the_end(fake: FakeServer) -> None:
    jobs = run(fake)
    for job, text in zip(jobs, ("one", "two", "three"), strict=True):
        fake.log(job, text)
        fake.update(job, "Succeeded")
    lines = ["sweep-0 node-0 | one", "sweep-1 node-0 | two", "sweep-2 node-0 | three"]
    assert sorted(invoke("logs", "-f", "sweep").stdout.splitlines()) == sorted(lines)
    assert invoke("logs", "-f", "--failed", "sweep").stdout == ""


def test_those_that_run_come_first_in_the_table(fake: FakeServer) -> None:
    jobs = run(fake)
    drawn = StringIO()
    console = Console(file=drawn, width=100)
    whole = {"metadata": {"name": "sweep"}, "spec": {"parallel": 2}, "jobs": jobs}
    console.print(drawing(whole, 2))
    said, header, *rows, more = drawn.getvalue().splitlines()
    assert said.rstrip() == "sweep: 3 jobs, at most 2 at a time: 1 failed, 1 running, 1 waiting"
    assert header.split()[:4] == ["NAME", "ID", "PHASE", "lr="]
    assert [row.split()[0] for row in rows] == ["sweep-1", "sweep-2"]
    assert more.rstrip() == "and 1 more"


def test_the_tasks_of_a_pipeline_say_what_they_come_after(fake: FakeServer) -> None:
    jobs = run(fake)
    for job, name in zip(jobs, ("one", "two", "three"), strict=True):
        job["metadata"]["labels"] |= {"trainway.dev/task": name}
        job["status"]["message"] = "it waits for one and two" if name == "three" else ""
    tasks = [{"name": "one", "after": []}, {"name": "three", "after": ["one", "two"]}]
    header, rows = run_table({"pipeline": {"tasks": tasks}}, jobs, utc_now())
    assert header == ["NAME", "ID", "PHASE", "AFTER", "DURATION", "MESSAGE"]
    assert [(row[3], row[5]) for row in rows] == [
        ("", ""), ("", ""), ("one, two", "it waits for one and two"),
    ]  # fmt: skip
    assert run_table({}, jobs, utc_now())[0][:4] == ["NAME", "ID", "PHASE", "lr="]


def test_from_a_task_is_not_for_those_that_ended_somehow(fake: FakeServer) -> None:
    run(fake)
    done = invoke("rerun", "sweep", "--from", "two", "--failed")
    assert done.exit_code == 2
    assert "--from cannot be combined with --failed or --cancelled" in done.stderr
    assert invoke("rerun", "sweep", "--from", "two").exit_code == 0
    assert fake.requests[-1][1].endswith("/rerun?task=two")
