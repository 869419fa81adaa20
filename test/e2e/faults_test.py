"""What goes wrong on real machines, done on purpose: nothing is lost, nothing runs twice."""

import contextlib
import json
import os
import shlex
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gate import Gate, Visitor
from installation import TIMEOUT_S, Installation, installed, is_alive, kill, processes_of
from small_disk import small_disk

LOG_BYTES = 200_000_000


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """For all tests that look at their own jobs only: a server takes longer to start than a job."""
    with installed(tmp_path_factory.mktemp("home")) as installation:
        yield installation


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Installation]:
    """For tests of the server itself, and of its disk."""
    with installed(tmp_path) as installation:
        yield installation


@pytest.mark.parametrize("kills", [4, pytest.param(20, marks=pytest.mark.stress)])
def test_a_server_killed_many_times_loses_nothing(
    home: Installation, gate: Gate, kills: int
) -> None:
    jobs = [home.submit("--", *gate.command(f"job-{number}")) for number in range(kills)]
    visitors = sorted((gate.next() for _ in jobs), key=lambda visitor: jobs.index(job_id(visitor)))

    for number, visitor in enumerate(visitors):
        pid = home.server_pid()
        if number % 2:  # half of the jobs end while no server runs
            kill(pid)
            visitor.let_go()
        else:
            visitor.let_go()
            kill(pid)

    home.run("jobs", "wait", *jobs)
    assert phases(home, jobs) == ["Succeeded"] * kills
    for number, job in enumerate(jobs):
        printed = home.run("jobs", "logs", job)
        assert printed.count("the gate") == 2
        assert all(f"job-{number} {where} the gate" in printed for where in ("at", "through"))
    assert gate.nobody_waits()  # no process was started a second time


def test_lines_are_metrics_once_whichever_server_reads_them(home: Installation, gate: Gate) -> None:
    lines = "for n in {}; do echo step=$n loss: 0.$n; done"
    visit = shlex.join(gate.command())
    script = "; ".join(
        [lines.format("1 2 3"), visit, lines.format("4 5"), visit, lines.format("6")]
    )
    job = home.submit("--metrics-from-logs", "--", "sh", "-c", script)

    def losses() -> list[tuple[int, float]]:
        found = home.json("jobs", "metrics", job)["series"].get("loss", ())
        return [(point["step"], point["value"]) for point in found]

    visitor = gate.next()
    deadline = time.monotonic() + TIMEOUT_S
    while len(losses()) < 3:
        assert time.monotonic() < deadline
    kill(home.server_pid())
    visitor.let_go()
    visitor = gate.next()
    home.run("jobs", "show", job)  # which starts a server
    kill(home.server_pid())  # it may have read, or have stored, the lines or not
    visitor.let_go()
    home.run("jobs", "wait", job)
    assert losses() == [(number, number / 10) for number in range(1, 7)]


def test_a_killed_rank_restarts_the_gang_as_its_policy_says(home: Installation, gate: Gate) -> None:
    job = home.submit("--nodes", "2", "--restarts", "1", "--", *gate.command())
    first = [gate.next() for _ in range(2)]

    kill(first[0].pid)
    second = [gate.next() for _ in range(2)]

    assert not any(is_alive(visitor.pid) for visitor in first)
    assert sorted(visitor.rank for visitor in second) == [0, 1]
    assert {visitor.env["TRAINWAY_RESTART_ATTEMPT"] for visitor in second} == {"1"}
    for visitor in second:
        visitor.let_go()
    home.run("jobs", "wait", job)
    status = home.job(job)["status"]
    assert (status["phase"], status["restarts"]) == ("Succeeded", 1)
    assert status["jobSet"]["restarts"] == 1


def test_a_killed_rank_without_restarts_fails_the_job(home: Installation, gate: Gate) -> None:
    run = home.start("run", "--nodes", "2", "--name", "fragile", "--", *gate.command())
    visitors = [gate.next() for _ in range(2)]

    kill(visitors[1].pid)
    printed, _ = run.communicate(timeout=TIMEOUT_S)

    assert run.returncode == 4, printed
    job = home.job("fragile")
    assert job["status"]["phase"] == "Failed"
    assert processes_of(job["metadata"]["id"]) == []
    assert not any(is_alive(visitor.pid) for visitor in visitors)


def test_a_killed_agent_is_noticed_and_the_gang_restarted(home: Installation, gate: Gate) -> None:
    job = home.submit("--nodes", "2", "--restarts", "1", "--", *gate.command())
    first = [gate.next() for _ in range(2)]

    kill(agent_pid(home, job))
    second = [gate.next() for _ in range(2)]

    assert not any(is_alive(visitor.pid) for visitor in first)
    for visitor in second:
        visitor.let_go()
    home.run("jobs", "wait", job)
    assert home.phase(job) == "Succeeded"
    assert gate.nobody_waits()


def test_an_agent_killed_while_no_server_runs_is_noticed_by_the_next(
    home: Installation, gate: Gate
) -> None:
    job = home.submit("--", *gate.command())
    visitor = gate.next()

    kill(home.server_pid())
    kill(agent_pid(home, job))
    home.run("jobs", "wait", job, code=4)

    assert home.phase(job) == "Failed"
    assert not is_alive(visitor.pid)
    assert gate.nobody_waits()


def test_a_cancel_leaves_nothing_even_of_what_ignores_sigterm(
    home: Installation, gate: Gate
) -> None:
    manifest = json.dumps(jobset("stubborn", gate.command("", "ignore-sigterm"), grace_s=1))
    file = home.home / "stubborn.json"
    file.write_text(manifest)
    job = home.submit(str(file))
    visitor = gate.next()

    home.run("jobs", "cancel", job)

    assert home.phase(job) == "Cancelled"
    assert not is_alive(visitor.pid)
    assert processes_of(job) == []


@pytest.mark.parametrize("queued", [40, pytest.param(200, marks=pytest.mark.stress)])
def test_many_jobs_run_in_the_order_they_came(
    home: Installation, tmp_path: Path, queued: int
) -> None:
    marks = tmp_path / "marks"
    cpus = len(os.sched_getaffinity(0))  # all there are, so that one job runs at a time
    mark = f"echo $NUMBER >> {marks}"
    submit = f"""
from trainway import Client
client = Client()
for number in range({queued}):
    job = {jobset("queued", ["sh", "-c", mark])!r}
    job["metadata"]["name"] = f"queued-{{number}}"
    pod = job["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    pod["containers"][0]["env"] = [{{"name": "NUMBER", "value": str(number)}}]
    pod["containers"][0]["resources"] = {{"requests": {{"cpu": "{cpus}"}}}}
    print(client.run(job).id)
"""
    jobs = python(home, submit).split()
    assert len(jobs) == queued

    home.run("jobs", "wait", *jobs)

    assert phases(home, jobs) == ["Succeeded"] * queued
    assert marks.read_text().split() == [str(number) for number in range(queued)]


def test_log_lines_of_any_bytes_arrive(home: Installation) -> None:
    code = r"""
import sys
out = sys.stdout.buffer
out.write("grüße, 世界 🚂\n".encode())
out.write(b"not utf-8: \xff\xfe\x80\n")
out.write(b"nul \x00 escape \x1b[31m tab \t carriage \r return\n")
out.write(b"x" * 1_000_000 + b" long\n")
out.write(b"\n")
out.write(b"no newline at the end")
"""
    job = home.submit("--", sys.executable, "-c", code)
    home.run("jobs", "wait", job)

    printed = home.run("jobs", "logs", job)

    assert "grüße, 世界 🚂" in printed
    assert r"not utf-8: \xff\xfe\x80" in printed
    assert "x" * 1_000_000 + " long" in "".join(printed.split("\n"))
    assert "no newline at the end" in printed
    lines = logged(home, job)
    assert lines[0] == "grüße, 世界 🚂"
    assert lines[2] == "nul \x00 escape \x1b[31m tab \t carriage \r return"
    assert lines[-1] == "no newline at the end"


def test_the_end_of_a_big_log_is_found_at_once(own: Installation) -> None:
    code = f"""
import sys
line = b"epoch 1 loss 0.25 ".ljust(99, b".") + b"\\n"
block = line * 10_000
for _ in range({LOG_BYTES} // len(block)): sys.stdout.buffer.write(block)
print("the end")
"""
    job = own.submit("--", sys.executable, "-c", code)
    own.run("jobs", "wait", job)

    printed = own.run("jobs", "logs", job, "--tail", "3")

    lines = printed.strip().splitlines()
    assert len(lines) == 3
    assert lines[-1].endswith("the end")
    assert memory_of(own.server_pid()) < 150_000_000


def test_a_full_disk_costs_lines_but_not_the_job(own: Installation) -> None:
    with small_disk(own.home / "jobs"):
        code = "for number in range(100_000): print(number, '.' * 90)"
        job = own.submit("--", sys.executable, "-c", code)
        own.run("jobs", "wait", job)

        assert own.phase(job) == "Succeeded"
        assert "No space left on device" in own.run("jobs", "events", job)
        lines = own.run("jobs", "logs", job).splitlines()
        assert lines[0].endswith("0 " + "." * 90)
        assert 1000 < len(lines) < 100_000
        own.run("jobs", "delete", job)
        own.run("server", "stop")  # nothing holds the disk any more


def test_jobs_get_ports_that_are_free_and_their_own(home: Installation, gate: Gate) -> None:
    command = ["--runtime", "torch-distributed", "--", *gate.command()]
    jobs = [home.submit(*command) for _ in range(5)]
    visitors = [gate.next() for _ in jobs]

    ports = [int(visitor.env["PET_MASTER_PORT"]) for visitor in visitors]

    assert len(set(ports)) == len(ports)
    with socket.socket() as stranger:  # they can really be bound
        stranger.bind(("127.0.0.1", ports[0]))
    for visitor in visitors:
        visitor.let_go()
    for job in jobs:
        home.run("jobs", "wait", job)


def test_a_port_taken_while_its_job_was_queued_is_replaced(home: Installation, gate: Gate) -> None:
    all_cpus = ["--cpus", str(len(os.sched_getaffinity(0)))]
    jobs = [
        home.submit(*all_cpus, "--", *gate.command("first")),
        home.submit(*all_cpus, "--runtime", "torch-distributed", "--", *gate.command("second")),
    ]
    first = gate.next()

    with socket.create_server(("127.0.0.1", promised_port(home, jobs[1]))) as stranger:
        first.let_go()
        second = gate.next()
        second.let_go()
        for job in jobs:
            home.run("jobs", "wait", job)

        assert second.env["PET_MASTER_PORT"] != str(stranger.getsockname()[1])


def test_a_server_says_that_its_port_is_taken(own: Installation) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        port = stranger.getsockname()[1]

        process = own.start("server", "start", "--listen", f"127.0.0.1:{port}")
        printed, _ = process.communicate(timeout=TIMEOUT_S)

    assert process.returncode == 1, printed
    assert str(port) in printed
    assert "Traceback" not in printed


def jobset(name: str, command: list[str], grace_s: int = 30) -> dict[str, Any]:
    pod = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": grace_s,
        "containers": [{"name": "node", "command": command}],
    }
    job = {"backoffLimit": 0, "template": {"spec": pod}}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name},
        "spec": {"replicatedJobs": [{"name": "node", "template": {"spec": job}}]},
    }


def phases(home: Installation, jobs: list[str]) -> list[str]:
    """The phase of each job, asked for once."""
    items = home.json("jobs", "list", "--all")["items"]
    found = {item["metadata"]["id"]: item["status"]["phase"] for item in items}
    return [found[job] for job in jobs]


def job_id(visitor: Visitor) -> str:
    return visitor.env["TRAINWAY_JOB_ID"]


def agent_pid(home: Installation, job: str) -> int:
    info = json.loads((home.home / "jobs" / job / "agent.json").read_text())
    return int(info["pid"])


def promised_port(home: Installation, job: str) -> int:
    """The port on which the nodes of a job will meet."""
    with contextlib.closing(sqlite3.connect(home.home / "trainway.db")) as database:
        query = "SELECT handle FROM jobs WHERE id = ?"
        [(handle,)] = database.execute(query, (job,)).fetchall()
    return int(json.loads(handle)["port"])


def memory_of(pid: int) -> int:
    """The resident memory of a process, in bytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))
    return 1024 * int(kilobytes)


def logged(home: Installation, job: str) -> list[str]:
    """The lines of a job as a program gets them."""
    code = f"import json; from trainway import Client\nlines = Client().job({job!r}).logs()\n"
    printed = python(home, code + "print(json.dumps([line.text for line in lines]))")
    lines: list[str] = json.loads(printed)
    return lines


def python(home: Installation, code: str) -> str:
    """Run a program that uses the SDK."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=home.home,
        env=home.environ(),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
