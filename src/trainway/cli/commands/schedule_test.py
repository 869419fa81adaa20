"""`trainway schedule`, with a server that only writes down what it is asked."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from trainway.cli.app import app
from trainway.cli.commands import schedule
from trainway.json_types import Json
from trainway.sdk.schedule_rest import ScheduleRest
from trainway.sdk.schedules import Schedule
from trainway.sdk.transport_testing import AskedTransport
from trainway.sdk.worker_pools import place_of_pool


class _Transport(AskedTransport):
    """Answers with the one schedule there is."""

    def answer(self, path: str) -> Json:
        one = {
            "metadata": {"id": "i", "name": "nightly", "creationTimestamp": "2026-11-17T00:00:00Z"},
            "spec": {
                "cron": "0 3 * * *", "timezone": "UTC", "catchUp": "once", "overlap": "forbid",
                "paused": path.endswith("pause"), "backend": "local", "kind": "JobSet",
            },
            "status": {
                "next": "2026-11-18T03:00:00Z", "last": None, "due": [], "waiting": None,
                "activeJobs": [],
            },
        }  # fmt: skip
        if path == "/schedules":
            return {"items": [one], "schedule": one, "warnings": ["take care"]}
        return one


@pytest.fixture
def transport(monkeypatch: pytest.MonkeyPatch) -> _Transport:
    made = _Transport()
    rest = ScheduleRest(made)
    monkeypatch.setattr(schedule, "_connected", lambda: rest)
    return made


def invoke(*words: str) -> Result:
    return CliRunner().invoke(app, ["schedule", *words], prog_name="trainway")


def test_create_sends_the_job_with_its_times(transport: _Transport) -> None:
    more = ("--timezone", "Asia/Tokyo", "--catch-up", "all", "--overlap", "replace", "--paused")
    result = invoke("create", "*/5 * * * *", "echo", "hi", "--name", "nightly", *more)
    assert result.exit_code == 0, result.output
    assert result.stdout == "nightly runs next at 2026-11-18 03:00 UTC\n"
    assert result.stderr == "warning: take care\n"
    body = transport.body
    assert (body["cron"], body["timezone"]) == ("*/5 * * * *", "Asia/Tokyo")
    assert (body["catch_up"], body["overlap"], body["paused"]) == ("all", "replace", True)
    assert body["objects"][0]["metadata"]["name"] == "nightly"
    invoke("create", "@daily", "echo", "hi", "--num-jobs", "2")
    assert transport.body["options"]["num_jobs"] == 2


def test_a_task_says_where_the_jobs_of_its_schedule_run(
    transport: _Transport, tmp_path: Path
) -> None:
    task = tmp_path / "task.yaml"
    task.write_text("{name: x, run: 'true', resources: {infra: ssh/lab}}")
    assert invoke("create", "@daily", str(task)).exit_code == 0
    assert transport.body["options"]["backend"] == "ssh/lab"
    assert invoke("create", "@daily", str(task), "--on", "slurm/hpc").exit_code == 0
    assert transport.body["options"]["backend"] == "slurm/hpc"
    assert invoke("create", "@daily", str(task), "-p", "warm").exit_code == 0
    assert transport.body["options"]["backend"] == place_of_pool("warm")


@pytest.mark.usefixtures("transport")
def test_what_create_refuses_by_itself() -> None:
    assert "there is nothing to run" in invoke("create", "@daily").stderr
    refused = invoke("create", "@daily", "echo", "hi", "--on", "any", "--num-jobs", "2")
    assert "the jobs of a run have one place" in refused.stderr
    both = invoke("create", "@daily", "echo", "hi", "--on", "local", "-p", "warm")
    assert "--pool cannot be combined with --on" in both.stderr
    words = ("create", "@daily", "echo", "hi", "--recovery-strategy", "eager-next")
    assert "needs several places" in invoke(*words).stderr
    assert invoke("create").exit_code == 2
    unquoted = invoke("create", "0", "3", "a.py", "b.py", "train.yaml")  # what `0 3 * * *` becomes
    assert (unquoted.exit_code, unquoted.stderr) == (
        2,
        (
            "error: the times are '0' alone, and the rest is taken for the job\n"
            'hint: put the times in quotes: trainway schedule create "0 3 * * *" FILE\n'
        ),
    )


def test_the_other_commands(transport: _Transport) -> None:
    assert invoke("list").stdout.splitlines()[1].split()[0] == "nightly"
    assert invoke("list", "-o", "name").stdout == "nightly\n"
    assert "Schedule:  0 3 * * * (UTC)" in invoke("show", "nightly").stdout
    assert invoke("pause", "nightly").stdout == "nightly paused\n"
    assert invoke("resume", "nightly").stdout == "nightly runs next at 2026-11-18 03:00 UTC\n"
    assert invoke("delete", "nightly").stdout == "nightly deleted\n"
    assert transport.asked[-3:] == [
        ("POST", "/schedules/nightly/pause"),
        ("POST", "/schedules/nightly/resume"),
        ("DELETE", "/schedules/nightly"),
    ]


def test_a_program_has_a_handle(transport: _Transport) -> None:
    rest = ScheduleRest(transport)
    handle = Schedule(rest, rest.schedule("nightly"))
    assert (handle.name, handle.next, handle.last) == ("nightly", "2026-11-18T03:00:00Z", None)
    handle.pause()
    handle.resume()
    handle.delete()
    assert [method for method, _ in transport.asked] == ["GET", "POST", "POST", "DELETE"]
