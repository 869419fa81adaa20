"""The job commands as people use them: real server, real agents, real processes."""

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest
import yaml
from gate import Gate
from installation import TIMEOUT_S, TRAINWAY, Installation, installed, is_alive, processes_of
from patience import until

HEAVY = (
    "alembic",
    "cryptography",
    "csv",
    "difflib",
    "fastapi",
    "pydantic",
    "rich",
    "shutil",
    "sqlalchemy",
    "trainway.cli.chart",
    "trainway.compiler",
    "trainway.families",
    "trainway.schema",
    "uvicorn",
    "yaml",
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with installed(tmp_path_factory.mktemp("home")) as installation:
        yield installation


def test_listing_imports_nothing_heavy(home: Installation) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", str(TRAINWAY), "jobs", "list"],
        env=home.environ(), capture_output=True, text=True, check=True, timeout=TIMEOUT_S,
    )  # fmt: skip
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "trainway.cli.app" in imported
    assert [name for name in HEAVY if name in imported] == []


def test_a_job_is_listed_shown_and_described(home: Installation) -> None:
    job = home.submit("--name", "shown", "--", "sh", "-c", "echo one; echo two")
    home.run("jobs", "wait", job)
    (listed,) = [line for line in home.run("jobs", "list").splitlines() if job in line]
    assert listed.split()[:4] == ["shown", job, "JobSet", "Succeeded"]
    shown = home.job("shown")
    assert shown["metadata"]["id"] == job
    (condition,) = [
        item for item in shown["status"]["jobSet"]["conditions"] if item["status"] == "True"
    ]
    assert condition["type"] == "Completed"
    assert yaml.safe_load(home.run("jobs", "show", job, "-o", "yaml")) == shown
    assert home.run("jobs", "show", "shown", "-o", "name") == f"{job}\n"
    text = home.run("jobs", "show", job)
    assert "Phase:     Succeeded\n" in text
    assert "node-0  Succeeded" in text
    assert home.run("jobs", "logs", job) == "node-0 | one\nnode-0 | two\n"
    assert home.run("jobs", "logs", job, "--raw", "--tail", "1") == "two\n"
    reasons = [event["reason"] for event in home.json("jobs", "events", job)["items"]]
    assert reasons[0] == "Created"
    assert home.run("jobs", "events", "-w", job).splitlines()[0].split()[0] == "TIME"


def test_a_name_means_the_newest_job(home: Installation) -> None:
    first = home.submit("--name", "twice", "--", "true")
    second = home.run("jobs", "rerun", "twice").split()[1]
    assert home.job("twice")["metadata"]["id"] == second
    assert home.job(first)["metadata"]["id"] == first
    home.run("jobs", "wait", first, second)


def test_a_job_is_submitted_again_with_a_difference(home: Installation) -> None:
    home.run("jobs", "wait", home.submit("--name", "differs", "--", "sh", "-c", "echo is $LR"))
    again = ("jobs", "rerun", "differs", "--env", "LR=0.5", "--set")
    replicas = "spec.replicatedJobs.node.replicas"
    before = home.job("differs")["metadata"]["id"]
    assert home.run(*again, f"{replicas}=2", "--dry-run") == ""
    home.run(*again, f"{replicas}s=2", code=2)
    assert home.job("differs")["metadata"]["id"] == before
    job = home.run(*again, f"{replicas}=2").split()[1]
    home.run("jobs", "wait", job)
    assert set(home.run("jobs", "logs", job, "--raw").splitlines()) == {"is 0.5"}
    assert len(home.job(job)["status"]["nodes"]) == 2


def test_notes_and_links_are_shown_with_a_job(home: Installation) -> None:
    script = "import trainway; trainway.link('wandb', 'https://wandb.ai/1')"
    given = ("--note", "a try", "--link", "tb=http://localhost:6006")
    job = home.submit("--name", "noted", *given, "--", sys.executable, "-c", script)
    home.run("jobs", "wait", job)
    home.run("jobs", "link", job, "mlflow", "https://mlflow.example.org")
    home.run("jobs", "link", job, "tb", "--remove")
    home.run("jobs", "link", job, "bad", "javascript:x", code=2)
    metadata = home.job(job)["metadata"]
    links = {"wandb": "https://wandb.ai/1", "mlflow": "https://mlflow.example.org"}
    assert (metadata["note"], metadata["links"]) == ("a try", links)
    home.run("jobs", "note", job, "it diverged")
    text = home.run("jobs", "show", job)
    assert "Note:      it diverged\n" in text
    assert "Link:      wandb https://wandb.ai/1\n" in text


def test_logs_are_followed_to_the_end(home: Installation, gate: Gate) -> None:
    job = home.submit("--", *gate.command("x"))
    visitor = gate.next()
    with home.follow_logs(job) as follower:
        assert follower.stdout is not None
        assert follower.stdout.readline() == "node-0 | x at the gate\n"
        visitor.let_go()
        assert follower.stdout.read() == "node-0 | x through the gate\n"
    assert follower.returncode == 0


def test_attempts_are_kept_apart(home: Installation) -> None:
    script = 'echo "attempt $TRAINWAY_RESTART_ATTEMPT"; test "$TRAINWAY_RESTART_ATTEMPT" = 1'
    job = home.submit("--restarts", "1", "--", "sh", "-c", script)
    home.run("jobs", "wait", job)
    assert home.run("jobs", "logs", job) == "node-0 | attempt 1\n"
    both = home.run("jobs", "logs", job, "--all-attempts")
    assert both == "node-0 | attempt 0\nnode-0 | attempt 1\n"


def test_a_job_is_suspended_and_resumed(home: Installation, gate: Gate) -> None:
    job = home.submit("--", *gate.command())
    first = gate.next()
    assert home.run("jobs", "suspend", job).endswith(" suspended\n")
    assert first.connection.recv(1) == b""
    until(lambda: home.phase(job) == "Paused", "it is not suspended")
    assert not is_alive(first.pid)
    with home.start("jobs", "show", "-w", job, "-o", "json") as watch:
        assert watch.stdout is not None
        begin = watch.stdout.readline()
        home.run("jobs", "resume", job)
        gate.next().let_go()
        phases = [seen["status"]["phase"] for seen in documents(begin + watch.stdout.read())]
    assert watch.returncode == 0
    assert (phases[0], phases[-1]) == ("Paused", "Succeeded")


def documents(text: str) -> Iterator[dict[str, dict[str, str]]]:
    """JSON documents, one after the other."""
    decoder = json.JSONDecoder()
    while text.strip():
        value, end = decoder.raw_decode(text.lstrip())
        yield value
        text = text.lstrip()[end:]


def test_waiting_has_an_end(home: Installation, gate: Gate) -> None:
    job = home.submit("--name", "slow", "--", *gate.command())
    visitor = gate.next()
    home.run("jobs", "wait", job, "--timeout", "0.1", code=5)
    visitor.let_go(3)
    home.run("jobs", "wait", job, code=4)


def test_cancelled_and_deleted_jobs_leave_no_process(home: Installation, gate: Gate) -> None:
    jobs = [home.submit("--nodes", "2", "--", *gate.command()) for _ in range(2)]
    visitors = [gate.next() for _ in range(4)]
    home.run("jobs", "cancel", jobs[0])
    assert processes_of(jobs[0]) == []
    assert home.phase(jobs[0]) == "Cancelled"
    home.run("jobs", "delete", *jobs)
    assert processes_of(jobs[1]) == []
    assert not any(is_alive(visitor.pid) for visitor in visitors)
    for job in jobs:
        home.run("jobs", "show", job, code=3)


def test_what_is_not_there_is_said_in_one_line(home: Installation) -> None:
    done = subprocess.run(
        [str(TRAINWAY), "jobs", "show", "nobody"],
        env=home.environ(), capture_output=True, text=True, check=False, timeout=TIMEOUT_S,
    )  # fmt: skip
    assert done.returncode == 3
    assert done.stderr.splitlines()[0].startswith("error: ")
    assert "nobody" in done.stderr
    assert "Traceback" not in done.stderr


def test_scalars_of_a_tensorboard_file_are_series(home: Installation) -> None:
    from trainway.engine.metrics.sources.event_records_test import FILE  # noqa: PLC0415 - tests

    script = (
        "import os; from pathlib import Path; runs = Path(os.environ['TRAINWAY_OUTPUT_DIR'], 'r'); "
        f"runs.mkdir(); (runs / 'events.out.tfevents.1').write_bytes({FILE!r})"
    )
    job = home.submit("--", sys.executable, "-c", script)
    home.run("jobs", "wait", job)
    found = home.json("jobs", "metrics", job)["series"]
    values = {
        name: [(one["step"], one["value"]) for one in points] for name, points in found.items()
    }
    assert values == {"loss": [(1, 0.5)], "acc": [(2, 2.0)]}


def test_what_a_script_reports_is_a_series(home: Installation) -> None:
    script = "import trainway\nfor n in (1, 2, 3): trainway.report(step=n, loss=1 / n)"
    job = home.submit("--name", "reports", "--", sys.executable, "-c", script)
    home.run("jobs", "wait", job)
    found = home.json("jobs", "metrics", "reports")
    assert list(found) == ["series"]
    assert [(point["step"], point["value"]) for point in found["series"]["loss"]] == [
        (1, 1.0),
        (2, 0.5),
        (3, 1 / 3),
    ]
    assert home.run("jobs", "metrics", job).splitlines()[1].split() == [
        "loss", "3", "0.3333", "0.3333", "1",
    ]  # fmt: skip
    assert "1 step" in home.run("jobs", "metrics", job, "--plot")


STUCK = """
import os, socket, time


def stuck():
    time.sleep(3600)


def wait_for_others(server):
    server.accept()


print("ready", flush=True)
if os.environ["TRAINWAY_RANK"] == "1":
    stuck()
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen()
wait_for_others(server)
"""


def test_the_stacks_of_a_job_that_hangs_show_where_each_rank_is(home: Installation) -> None:
    job = home.submit("--nodes", "2", "--", sys.executable, "-c", STUCK)
    until(lambda: home.run("jobs", "logs", job).count("ready") == 2, "it does not run")

    def calls() -> dict[str, str]:
        found = json.loads(home.run("jobs", "stacks", job, "-o", "json"))
        return {
            rank["node"]: ",".join(
                frame["function"]
                for process in rank["processes"]
                for thread in process["threads"]
                for frame in thread["frames"]
            )
            for rank in found["ranks"]
        }

    wanted = {"node-0": "socket.accept,wait_for_others,<module>", "node-1": "stuck,<module>"}
    until(lambda: calls() == wanted, "the ranks are not where they should be")
    one = home.run("jobs", "stacks", job, "--rank", "1")
    assert "stuck (" in one
    assert "node-0" not in one
    home.run("jobs", "cancel", job)
    assert "wait_for_others (" in home.run("jobs", "stacks", job)
    home.run("jobs", "stacks", job, "--attempt", "2", code=3)
