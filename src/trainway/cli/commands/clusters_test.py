import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from trainway.cli import cluster_connection
from trainway.cli.app import app
from trainway.json_types import Json
from trainway.sdk.submitter import user_label
from trainway.sdk.testing import FakeServer

TASK = """
name: train
num_nodes: 2
workdir: .
resources: {cpus: 4+, accelerators: A100:0.5, autostop: true, infra: local}
setup: pip list
run: python train.py
"""


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    monkeypatch.setenv("TRAINWAY_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TRAINWAY_SERVER", raising=False)
    monkeypatch.chdir(tmp_path)
    Path("task.yaml").write_text(TASK)
    with FakeServer(tmp_path / "home") as server:
        yield server


def invoke(*args: str) -> Result:
    return CliRunner().invoke(app, args, prog_name="trainway")


def posted(fake: FakeServer, path: str) -> list[Any]:
    return [
        body for method, url, body in fake.requests if (method, url) == ("POST", f"/api/v1{path}")
    ]


def task_of(fake: FakeServer) -> Json:
    (task,) = [item for item in posted(fake, "/jobs")[-1]["objects"] if item["kind"] == "Task"]
    document: Json = task["spec"]["tasks"][0]["task"]
    return document


def ends(fake: FakeServer, phase: str) -> None:
    def end(job: Json) -> None:
        fake.log(job, "a line")
        fake.update(job, phase, nodes=[])

    fake.on_submit = end


def test_launch_says_whose_a_cluster_is_and_what_it_may_cost(fake: FakeServer) -> None:
    result = invoke("launch", "-d", "-c", "dev", "--max-cost", "50", "--label", "team=nlp", "true")
    assert result.exit_code == 0
    (wanted,) = posted(fake, "/clusters")
    assert (wanted["max_cost"], wanted["labels"]["team"]) == (50.0, "nlp")
    assert invoke("launch", "-d", "-c", "dev", "--max-cost", "0", "true").exit_code == 2


def test_launch_names_the_machines_that_are_rented(fake: FakeServer) -> None:
    words = (
        "-t",
        "p5.48xlarge",
        "--image-id",
        "ami-1",
        "--disk-size",
        "512",
        "--disk-tier",
        "high",
    )
    result = invoke("launch", "-d", "-c", "dev", "--infra", "aws", *words, "true")
    assert result.exit_code == 0, result.stderr
    (wanted,) = posted(fake, "/clusters")
    assert wanted["resources"] == {
        "instance_type": "p5.48xlarge",
        "image_id": "ami-1",
        "disk_size": "512",
        "disk_tier": "high",
    }


def test_launch_makes_a_cluster_as_the_task_wants_it(fake: FakeServer) -> None:
    result = invoke("launch", "-d", "-c", "dev", "task.yaml", "-i", "10", "--down")
    assert (result.exit_code, result.stdout) == (0, "dev 1\n")
    (wanted,) = posted(fake, "/clusters")
    assert wanted == {
        "name": "dev",
        "infra": "",
        "nodes": 2,
        "resources": {
            "cpus": "4+",
            "accelerators": "A100:0.5",
            "autostop": True,
            "infra": "local",
        },
        "idle_minutes": 10,
        "down": True,
        "retry_until_up": False,
        "slurm": {},
        "labels": user_label(os.environ),
    }
    assert task_of(fake) == {
        "name": "train",
        "num_nodes": 2,
        "workdir": ".",
        "resources": {"cpus": "4+", "accelerators": "A100:0.5"},
        "setup": "pip list",
        "run": "python train.py",
    }
    assert posted(fake, "/jobs")[0]["options"]["backend"] == "cluster/dev"
    assert result.stderr == "cluster dev is 2x(cpus=2, mem=4Gi) on local, autostop 10m (down)\n"


@dataclass(frozen=True)
class Said:
    """What a command line makes of the task."""

    words: tuple[str, ...]
    fields: Json


@pytest.mark.parametrize(
    "case",
    [
        Said(("echo", "$HOME"), {"run": "echo $HOME"}),
        Said(("--", "echo", "$HOME"), {"run": "echo '$HOME'"}),
        Said(("--", "echo $HOME && ls"), {"run": "echo $HOME && ls"}),
        Said(("--gpus", "A100:2", "x"), {"run": "x", "resources": {"accelerators": "A100:2"}}),
        Said(("--gpus", "0.5", "x"), {"run": "x", "resources": {"accelerators": "GPU:0.5"}}),
        Said(("--cpus", "4+", "--memory", "16", "x"),
             {"run": "x", "resources": {"cpus": "4+", "memory": "16"}}),
        Said(("--num-nodes", "3", "--workdir", "w", "--env", "A=1", "x"),
             {"run": "x", "num_nodes": 3, "workdir": "w", "envs": {"A": "1"}}),
    ],
)  # fmt: skip
def test_a_command_is_a_task(fake: FakeServer, case: Said) -> None:
    fake.clusters.add("dev")
    Path("w").mkdir()
    result = invoke("exec", "-d", "dev", *case.words)
    assert result.exit_code == 0, result.stderr
    assert task_of(fake) == case.fields


def test_exec_leaves_out_setup_and_options_count_before_the_file(fake: FakeServer) -> None:
    fake.clusters.add("dev")
    words = ["--gpus", "H100", "--num-nodes", "1", "-n", "other"]
    assert invoke("exec", "-d", "dev", "task.yaml", *words).exit_code == 0
    assert task_of(fake) == {
        "name": "train",
        "num_nodes": 1,
        "workdir": ".",
        "resources": {"cpus": "4+", "accelerators": "H100"},
        "run": "python train.py",
    }
    ((_, _, body),) = [item for item in fake.requests if item[1] == "/api/v1/jobs"]
    assert body["objects"][0]["metadata"]["name"] == "other"


@pytest.mark.parametrize(
    ("words", "has_setup"), [([], True), (["--no-setup"], False), (["--fast"], False)]
)
def test_setup_is_left_out_when_that_is_asked_for(
    fake: FakeServer, words: list[str], has_setup: bool
) -> None:
    fake.clusters.add("dev")
    assert invoke("launch", "-d", "-c", "dev", "task.yaml", *words).exit_code == 0
    assert ("setup" in task_of(fake)) == has_setup


def test_files_travel_to_hosts_and_secrets_beside_the_task(fake: FakeServer) -> None:
    fake.clusters.add("lab", infra="ssh/lab")
    words = ["--secret", "TOKEN=hidden", "--workdir", "."]
    assert invoke("exec", "-d", "lab", *words, "true").exit_code == 0
    objects = posted(fake, "/jobs")[0]["objects"]
    assert [item["kind"] for item in objects] == ["ConfigMap", "Secret", "Task"]
    assert objects[1]["stringData"] == {"TOKEN": "hidden"}
    assert "hidden" not in json.dumps(objects[2])


@pytest.mark.parametrize(("phase", "code"), [("Succeeded", 0), ("Failed", 100), ("Cancelled", 103)])
def test_the_exit_status_is_that_of_the_job(fake: FakeServer, phase: str, code: int) -> None:
    fake.clusters.add("dev")
    ends(fake, phase)
    result = invoke("exec", "dev", "true")
    assert result.exit_code == code
    assert result.stdout == "node-0 | a line\n"
    assert f"job 1 of dev: sky-cmd: {phase}" in result.stderr
    assert invoke("logs", "dev").exit_code == code
    assert invoke("logs", "dev", "1", "--status").exit_code == (1 if code else 0)


def test_clusters_are_shown_in_columns(fake: FakeServer) -> None:
    assert invoke("status").stderr == "there are no clusters; trainway launch makes one\n"
    fake.clusters.add("a", autostop={"idleMinutes": 5, "down": True})
    fake.clusters.add("b", "INIT", "ssh/lab", nodes=3)["status"]["message"] = "it needs 3 CPUs"
    result = invoke("status")
    header, *rows = result.stdout.splitlines()
    assert header.split() == ["NAME", "INFRA", "RESOURCES", "STATUS", "AUTOSTOP", "LAUNCHED"]
    assert [row.split("  ")[0] for row in rows] == ["a", "b"]
    assert "1x(cpus=2, mem=4Gi)  UP      5m (down)" in rows[0]
    assert "ssh/lab  3x(cpus=2, mem=4Gi)  INIT    -" in rows[1]
    assert result.stderr == "b: it needs 3 CPUs\n"
    assert json.loads(invoke("status", "b", "-o", "json").stdout)["items"] == [
        fake.clusters.items["b"]
    ]
    assert invoke("status", "--ip", "a").stdout == "127.0.0.1\n"
    assert invoke("status", "--ip", "b").exit_code == 1
    assert invoke("status", "--ip").exit_code == 2
    assert invoke("status", "-r").exit_code == 0
    assert fake.requests[-1][:2] == ("POST", "/api/v1/clusters/refresh")


def test_a_cluster_whose_machines_are_taken_is_shown_as_interrupted(fake: FakeServer) -> None:
    rental = {"instanceType": "p5", "spot": True, "interruption": {"until": "", "message": "m"}}
    status = fake.clusters.add("a", infra="aws/us-east-1")["status"]
    status["rental"] = rental
    assert "  UP (interrupted)  " in invoke("status").stdout
    status["phase"] = "STOPPED"
    assert "  STOPPED  " in invoke("status").stdout


def test_the_queue_is_shown_in_columns(fake: FakeServer) -> None:
    fake.clusters.add("dev")
    for _ in range(2):
        invoke("exec", "-d", "dev", "true")
    fake.update(fake.jobs["id0000"], "Failed", startTime="2026-11-15T05:10:01Z",
                completionTime="2026-11-15T05:11:02Z")  # fmt: skip
    header, *rows = invoke("queue", "dev").stdout.splitlines()
    assert header.split() == [
        *("ID", "NAME", "SUBMITTED", "STARTED", "DURATION", "RESOURCES", "STATUS", "LOG"),
    ]
    assert [row.split()[0] for row in rows] == ["2", "1"]
    assert rows[1].split()[-4:] == ["1m1s", "1x[CPU:0.5]", "FAILED", "/jobs/id0000/logs"]
    assert len(invoke("queue", "-s", "-u").stdout.splitlines()) == 2
    fake.clusters.add("other")
    assert invoke("queue").stdout.count("Job queue of cluster") == 2
    items = json.loads(invoke("queue", "-o", "json").stdout)["items"]
    assert [(item["cluster"], item["number"]) for item in items] == [("dev", 2), ("dev", 1)]


def test_jobs_are_cancelled_by_number(fake: FakeServer) -> None:
    fake.clusters.add("dev")
    for _ in range(3):
        invoke("exec", "-d", "dev", "true")
    fake.update(fake.jobs["id0000"], "Succeeded")
    fake.update(fake.jobs["id0001"], "Running")
    assert invoke("cancel", "dev", "1", "-y").stderr.startswith("job 1 of dev has already ended")
    assert invoke("cancel", "dev", "-y").stdout == "job 2 cancelled\n"
    assert invoke("cancel", "dev", "-a", "-y").stdout == "job 3 cancelled\n"
    assert invoke("cancel", "dev", "9", "-y").exit_code == 102
    assert invoke("cancel", "dev", "-a", "1", "-y").exit_code == 2


def test_clusters_are_stopped_started_and_given_back(fake: FakeServer) -> None:
    for name in ("train-1", "train-2", "other"):
        fake.clusters.add(name)
    assert invoke("stop", "train-*", "-y").stdout == "train-1 stopped\ntrain-2 stopped\n"
    assert invoke("start", "train-1", "-i", "3").stdout == "train-1 started\n"
    assert posted(fake, "/clusters/train-1/start") == [{"idle_minutes": 3, "down": False}]
    assert invoke("autostop", "other").stdout == "other stops after 5 idle minutes\n"
    assert invoke("autostop", "other", "-i", "0", "--down").exit_code == 0
    assert fake.clusters.items["other"]["spec"]["autostop"] == {"idleMinutes": 0, "down": True}
    assert invoke("autostop", "other", "--cancel").stdout == "other stays\n"
    assert fake.clusters.items["other"]["spec"]["autostop"] is None
    assert invoke("autostop", "other", "--cancel", "-i", "1").exit_code == 2
    assert invoke("down", "other", "-y", "-p").stdout == "other is down\n"
    assert invoke("down", "-u", "-y").exit_code == 0, "as SkyPilot's users may type it"
    assert fake.clusters.items == {}
    assert invoke("down", "-a", "-y").stderr == "there are no clusters\n"


def test_one_that_fails_stops_no_other(fake: FakeServer) -> None:
    for name in ("a", "b"):
        fake.clusters.add(name)
    fake.clusters.refusals["stop"] = "its hosts cannot be switched off"
    result = invoke("stop", "-a", "-y")
    assert result.exit_code == 1
    assert result.stderr == "error: its hosts cannot be switched off\n" * 2


@pytest.mark.parametrize("verb", ["status", "stop", "down", "autostop", "start", "queue"])
def test_a_wrong_name_is_told_with_the_right_one(fake: FakeServer, verb: str) -> None:
    fake.clusters.add("training")
    result = invoke(verb, "trainning", *([] if verb in ("status", "queue") else ["-y"]))
    assert result.exit_code == 3
    assert "there is no cluster 'trainning'; did you mean \"training\"?" in result.stderr


@pytest.mark.parametrize("verb", ["list", "show"])
def test_a_verb_of_the_other_queues_is_told_their_command(fake: FakeServer, verb: str) -> None:
    result = invoke("queue", verb)
    assert result.exit_code == 3
    assert f"hint: queues that jobs wait in are shown by trainway queues {verb}" in result.stderr
    fake.clusters.add(verb)
    assert invoke("queue", verb).exit_code == 0


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["launch"], 2),
        (["launch", "missing.yaml"], 2),
        (["exec", "dev"], 2),
        (["exec", "gone", "true"], 3),
        (["logs", "gone"], 3),
        (["logs", "dev"], 102),
        (["logs", "dev", "x"], 2),
        (["down"], 2),
        (["down", "dev"], 2),
        (["down", "-a", "dev", "-y"], 2),
    ],
)
def test_what_is_wrong_has_an_exit_status(fake: FakeServer, words: list[str], code: int) -> None:
    fake.clusters.add("dev")
    result = invoke(*words)
    assert result.exit_code == code, result.stderr
    assert result.stderr.startswith("error: ")


def test_a_file_of_several_tasks_is_refused(fake: FakeServer) -> None:
    Path("two.yaml").write_text("run: a\n---\nrun: b\n")
    Path("bad.yaml").write_text("run: a\nrunn: b\n")
    assert "there are 2 tasks in it" in invoke("launch", "-d", "two.yaml").stderr
    result = invoke("launch", "-d", "bad.yaml")
    assert (result.exit_code, fake.requests) == (1, [])
    assert result.stderr.startswith("bad.yaml: line 2, column 1: ")


def test_a_dry_run_makes_nothing(fake: FakeServer) -> None:
    result = invoke("launch", "--dryrun", "-c", "dev", "--cpus", "2", "true")
    assert result.stderr == "cluster dev would be 1x(cpus=2, mem=4Gi) on local\n"
    assert fake.clusters.items == {}
    assert posted(fake, "/jobs") == []


def test_what_is_lost_is_asked_for(fake: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.clusters.add("dev")
    asked: list[str] = []

    def confirm(question: str, *, yes: bool) -> bool:
        asked.append(question)
        return yes

    monkeypatch.setattr("trainway.cli.cluster_action.confirm", confirm)
    assert invoke("down", "dev").exit_code == 1
    assert asked == ["Take down dev?"]
    assert "dev" in fake.clusters.items
    assert cluster_connection.confirm("", yes=True)


def test_a_shell_is_here_or_on_the_first_host(
    fake: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    became: list[list[str]] = []

    def become(program: str, words: list[str], variables: dict[str, str]) -> None:
        assert program.endswith(words[0].rpartition("/")[2])
        became.append([*words, variables.get("TRAINWAY_CLUSTER", "")])
        raise SystemExit(0)

    monkeypatch.setattr("os.execve", become)
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}")
    monkeypatch.setenv("SHELL", "sh")
    fake.clusters.add("dev")
    fake.clusters.place = {"directory": str(tmp_path), "variables": {"TRAINWAY_CLUSTER": "dev"}}
    invoke("ssh", "dev", "ls", "-l")
    fake.clusters.place = {"words": ["ssh", "-p", "2222", "me@gpu"]}
    invoke("ssh", "dev")
    fake.clusters.place = {"words": ["ssh", "login"], "step": "exec srun --jobid=7"}
    invoke("ssh", "dev", "echo", "$HOME")
    fake.clusters.place = {"words": ["sh", "-c"], "step": "exec srun --jobid=7"}
    invoke("ssh", "dev")
    assert became == [
        ["sh", "-c", "ls -l", "dev"],
        ["ssh", "-p", "2222", "me@gpu", ""],
        ["ssh", "login", """exec sh -c 'exec srun --jobid=7 sh -c '"'"'echo $HOME'"'"''""", ""],
        ["sh", "-c", """exec sh -c 'exec srun --jobid=7 "${SHELL:-/bin/sh}" -l'""", ""],
    ]
