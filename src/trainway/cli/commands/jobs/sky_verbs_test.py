"""`jobs launch`, `queue`, `cancel` and `logs` as SkyPilot's users type them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from trainway.cli.app import app
from trainway.errors import ConflictError
from trainway.sdk.rest import Rest
from trainway.sdk.testing import FakeServer


def invoke(*args: str) -> Result:
    return CliRunner().invoke(app, ["jobs", *args], prog_name="trainway")


def command_of(job: Any) -> list[str]:
    (role,) = job["spec"]["objects"][0]["spec"]["replicatedJobs"]
    (container,) = role["template"]["spec"]["template"]["spec"]["containers"]
    return [*container["command"], *container.get("args", ())]


def test_a_task_is_launched_with_skypilots_options(fake: FakeServer) -> None:
    Path("task.yaml").write_text("run: echo hi\nenvs: {RATE: null}\n")
    words = ["-n", "hello", "-y", "--detach-run", "--env", "RATE=1", "--secret", "KEY=hush"]
    result = invoke("launch", "task.yaml", *words, "--cloud", "local")
    assert (result.exit_code, result.stdout) == (0, "hello id0000\n")
    job = fake.jobs["id0000"]
    assert (job["spec"]["kind"], job["spec"]["backend"]) == ("Task", "local")
    assert "hush" not in result.output


def test_a_text_with_spaces_is_a_shells(fake: FakeServer) -> None:
    assert invoke("launch", "-d", "echo $HOSTNAME; true").stdout == "sky-cmd id0000\n"
    assert command_of(fake.jobs["id0000"]) == ["bash", "-c", "echo $HOSTNAME; true"]
    assert invoke("launch", "-d", "echo", "hi").stdout == "echo id0001\n"
    assert command_of(fake.jobs["id0001"]) == ["echo", "hi"]
    assert invoke("launch", "-d", "--", "echo", "a b").stdout == "echo id0002\n"
    assert command_of(fake.jobs["id0002"]) == ["echo", "a b"]


def test_a_job_that_is_launched_is_shown_and_ends_as_it_ends(fake: FakeServer) -> None:
    def fail(job: Any) -> None:
        fake.log(job, "no luck")
        fake.update(job, "Failed", reason="Failed")

    fake.on_submit = fail
    result = invoke("launch", "-n", "ill", "--", "false")
    assert (result.exit_code, "no luck" in result.stdout) == (4, True)


def test_a_deadline_on_a_cloud_is_sent_with_the_wish_for_spot_machines(fake: FakeServer) -> None:
    words = ("--infra", "aws", "--use-spot", "--deadline", "60h", "--work", "50h")
    result = invoke("launch", *words, "-d", "--", "true")
    assert result.exit_code == 0, result.stderr
    (sent,) = [body["options"] for _, path, body in fake.requests if path.endswith("/jobs")]
    assert (sent["backend"], sent["use_spot"], sent["work"]) == ("aws", True, 180_000)
    assert sent["deadline"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--infra", "local", "--cloud", "slurm", "true"], "--infra cannot be combined"),
        (["--zone", "gpu", "true"], "--zone needs --cloud"),
        (["task.yaml", "--use-luck"], "trainway jobs launch has no option --use-luck"),
        (["task.yaml", "--use-spot"], "--use-spot is for machines of a cloud"),
        ([], "there is nothing to run"),
    ],
)
def test_what_cannot_be_launched_is_said(fake: FakeServer, words: list[str], message: str) -> None:
    Path("task.yaml").write_text("run: echo hi\n")
    result = invoke("launch", *words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert fake.jobs == {}


def test_the_queue_has_skypilots_columns(fake: FakeServer) -> None:
    fake.add_job("done", "Succeeded", completionTime="2026-11-15T05:12:00Z")
    job = fake.add_job("train", "Restarting", restarts=2, startTime="2026-11-15T05:11:00Z")
    job["spec"]["requests"] = {"cpus": 4, "memory": 0, "gpus": 1}
    header, first, second = invoke("queue").stdout.splitlines()
    assert re.split(r"\s{2,}", header) == [
        "ID", "TASK", "NAME", "REQUESTED", "SUBMITTED", "TOT. DURATION", "JOB DURATION",
        "#RECOVERIES", "STATUS",
    ]  # fmt: skip
    cells = re.split(r"\s{2,}", first)
    assert cells[:4] == ["id0001", "-", "train", "CPU:4, GPU:1"]
    assert cells[-2:] == ["2", "RECOVERING"]
    assert re.split(r"\s{2,}", second)[5:] == ["2m", "-", "0", "SUCCEEDED"]


def test_jobs_of_the_queue_are_chosen(fake: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "ada")
    assert invoke("queue", "-s").stderr == "no job waits or runs\n"
    assert invoke("queue", "--since", "1h").stderr == "there are no such jobs\n"
    assert invoke("queue").stderr == "there are no jobs\n"
    assert "label=trainway.dev%2Fuser%3Dada" in fake.requests[-1][1]
    fake.add_job("done", "Succeeded")
    fake.add_job("runs", "Running")["metadata"]["labels"] = {"trainway.dev/user": "bob"}
    assert "done" not in invoke("queue", "-s", "-r").stdout
    listed = json.loads(invoke("queue", "-u", "-a", "-o", "json").stdout)["items"]
    assert [(item["job_id"], item["status"]) for item in listed] == [
        ("id0001", "RUNNING"),
        ("id0000", "SUCCEEDED"),
    ]
    assert "label" not in fake.requests[-1][1]
    assert re.split(r"\s{2,}", invoke("queue", "-u").stdout.splitlines()[1])[2:4] == ["runs", "bob"]
    invoke("queue", "--status", "pending")
    assert "phase=Pending%2CQueued%2CInadmissible%2CPaused" in fake.requests[-1][1]
    short = invoke("queue", "-l", "1")
    assert (short.stdout.count("\n"), "--all shows more" in short.stderr) == (2, True)


def test_jobs_are_cancelled_by_name_and_all_together(fake: FakeServer) -> None:
    for name in ("a", "b", "c"):
        fake.add_job(name, "Running")
    assert invoke("cancel", "-n", "a", "-y").stdout == "a cancelled\n"
    assert invoke("cancel", "id0001", "-y").stdout == "b cancelled\n"
    asked = invoke("cancel", "-a")
    assert (asked.exit_code, fake.jobs["id0002"]["status"]["phase"]) == (2, "Running")
    assert "asks for confirmation" in asked.stderr
    assert invoke("cancel", "-a", "-y").stdout == "c cancelled\n"
    assert invoke("cancel", "-a", "-y").stderr == "there is nothing to cancel\n"
    assert invoke("cancel").exit_code == 2
    assert invoke("cancel", "-n", "a").exit_code == 3


def test_a_job_that_has_ended_meanwhile_stops_no_other(
    fake: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        fake.add_job(name, "Running")
    act = Rest.act

    def asked(rest: Rest, ref: str, verb: str, **more: Any) -> Any:
        if ref == "id0001":
            raise ConflictError("b has already ended (succeeded) and cannot be cancelled")
        return act(rest, ref, verb, **more)

    monkeypatch.setattr(Rest, "act", asked)
    result = invoke("cancel", "a", "b", "c")
    assert (result.exit_code, result.stdout) == (1, "a cancelled\nc cancelled\n")
    assert "b has already ended" in result.stderr


def test_the_jobs_of_a_worker_pool_are_cancelled(fake: FakeServer) -> None:
    fake.add_job("a", "Running")
    asked = invoke("cancel", "-p", "warm")
    assert (asked.exit_code, fake.jobs["id0000"]["status"]["phase"]) == (2, "Running")
    assert invoke("cancel", "-p", "warm", "--graceful", "-y").stdout == "a cancelled\n"
    (listed,) = [path for method, path, _ in fake.requests[1:] if "label=" in path][-1:]
    assert "label=trainway.dev%2Fworker-pool%3Dwarm" in listed
    assert "user" not in listed, "it is the pool's jobs, whoever submitted them"
    assert invoke("cancel", "-p", "warm", "-n", "a").exit_code == 2


def test_the_queue_since_a_time(fake: FakeServer) -> None:
    invoke("queue", "--after", "2026-11-15")
    assert "since=2026-11-1" in fake.requests[-1][1]


def test_the_queue_before_a_time(fake: FakeServer) -> None:
    for name, day in (("old", 14), ("new", 16)):
        job = fake.add_job(name, "Running")
        job["metadata"]["creationTimestamp"] = f"2026-11-{day}T05:10:00Z"
    (_, row) = invoke("queue", "--before", "2026-11-15", "-l", "1").stdout.splitlines()
    assert re.split(r"\s{2,}", row)[2] == "old"
    assert invoke("queue", "--before", "2026-11-13").stderr == "there are no such jobs\n"


@pytest.mark.parametrize(("word", "sent"), [("FAILOVER", "failover"), ("None", "none")])
def test_a_strategy_in_skypilots_words(fake: FakeServer, word: str, sent: str) -> None:
    assert invoke("launch", "-d", "--job-recovery", word, "--", "true").exit_code == 0
    (options,) = [body["options"] for _, path, body in fake.requests if path.endswith("/jobs")]
    assert options["recovery_strategy"] == sent


def test_workers_are_replaced_in_one_way() -> None:
    refused = invoke("pool", "apply", "-p", "warm", "--workers", "2", "--mode", "blue_green")
    assert (refused.exit_code, "one by one" in refused.stderr) == (2, True)


def test_logs_of_a_name_or_of_the_newest_job(fake: FakeServer) -> None:
    for name in ("a", "b"):
        fake.log(fake.add_job(name, "Succeeded"), f"of {name}")
    assert invoke("logs", "-n", "a", "--no-follow").stdout == "node-0 | of a\n"
    assert invoke("logs", "--follow").stdout == "node-0 | of b\n"
    assert invoke("logs", "-f", "id0000").stdout == "node-0 | of a\n"
    refused = invoke("logs", "--controller", "a")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "there is no controller" in refused.stderr
    assert invoke("logs", "id0000", "-n", "a").exit_code == 2


def test_the_whole_log_is_written_to_a_file(
    fake: FakeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    fake.log(fake.add_job("a", "Succeeded"), "of a")
    file = tmp_path / "sky_logs" / "id0000" / "run.log"
    for words in (["id0000", "-s"], ["-r", "-n", "a", "--sync-down"], ["-s"]):
        assert invoke("logs", *words).stdout == f"{file}\n"
        assert file.read_text() == "(node-0) of a\n"
    assert invoke("logs", "-s", "--tail", "3").exit_code == 2
    file.unlink()
    file.mkdir()
    refused = invoke("logs", "-s")
    assert (refused.exit_code, refused.stderr) == (1, f"error: {file}: Is a directory\n")
