"""Clusters of this machine, with the installed command and real processes."""

import contextlib
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gate import Gate, Visitor
from installation import Installation, is_alive, kill, processes_of
from local_clusters import agents, command_line, on_machine
from patience import PATIENCE_S, until

MACHINE = {"cpu": "2", "memory": "8Gi", "gpus": 1}
TASK = """
name: greeting
num_nodes: 2
resources: {cpus: 0.5}
envs: {WORD: hello}
setup: echo setup of $SKYPILOT_SETUP_NODE_RANK
run: echo $WORD from $SKYPILOT_NODE_RANK of $SKYPILOT_NUM_NODES
"""


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with on_machine(tmp_path_factory.mktemp("home"), MACHINE) as installation:
        yield installation


@pytest.fixture
def home(installation: Installation) -> Iterator[Installation]:
    """Shared, since a server takes long to start; no test finds clusters or jobs of another."""
    yield installation
    installation.run("down", "--all", "--yes")
    jobs = installation.run("jobs", "list", "--all", "-o", "name").split()
    if jobs:
        installation.run("jobs", "delete", *jobs)


def launch(home: Installation, gate: Gate, *options: str, name: str = "first") -> Visitor:
    """A cluster whose first job is at the gate."""
    home.run("launch", "-y", "-d", "-c", "dev", *options, "--", *gate.command(name))
    return gate.next()


def execute(home: Installation, gate: Gate, name: str, *options: str) -> int:
    """Put a job into the queue; its number."""
    words = home.run("exec", "-d", *options, "dev", "--", *gate.command(name)).split()
    assert words[0] == "dev"
    return int(words[1])


def states(home: Installation) -> dict[str, str]:
    items = home.json("status")["items"]
    return {item["metadata"]["name"]: item["status"]["phase"] for item in items}


def queue(home: Installation, *options: str) -> dict[int, str]:
    """The phases of the cluster's jobs by number."""
    items = home.json("queue", "dev", *options)["items"]
    return {item["number"]: item["job"]["status"]["phase"] for item in items}


def newest(home: Installation) -> dict[str, Any]:
    """The newest job of the queue."""
    item: dict[str, Any] = home.json("queue", "dev")["items"][0]
    return item


def phases(home: Installation) -> list[str]:
    """Those of all jobs."""
    return [item["status"]["phase"] for item in home.json("jobs", "list")["items"]]


def wait_for_queue(home: Installation, wanted: dict[int, str]) -> None:
    """Wait until the server, too, knows that the jobs are in these phases."""
    until(lambda: queue(home) == wanted, "the queue is another one", said=lambda: str(queue(home)))


def job_id(visitor: Visitor) -> str:
    return visitor.env["TRAINWAY_JOB_ID"]


def await_states(home: Path, wanted: dict[str, str]) -> None:
    """Listen to the agent of the pool, without any server, until its clusters are in the states."""
    with socket.socket(socket.AF_UNIX) as client, contextlib.ExitStack() as stack:
        folder = os.open(home / "pools" / "local-clusters", os.O_PATH)
        stack.callback(os.close, folder)
        client.settimeout(PATIENCE_S)
        client.connect(f"/proc/self/fd/{folder}/agent.sock")
        client.sendall(b'{"op": "clusters"}\n')
        for line in client.makefile():
            told: dict[str, Any] = json.loads(line)
            if {item["name"]: item["state"] for item in told["clusters"]} == wanted:
                return
    raise AssertionError("the agent has gone")


def test_exec_runs_where_the_task_ran(home: Installation, tmp_path: Path) -> None:
    folder, file = tmp_path / "code", tmp_path / "task.yaml"
    folder.mkdir()
    file.write_text(f"workdir: {folder}\nsetup: echo of setup >made\nrun: cat made\n")
    home.run("launch", "-y", "-c", "dev", str(file))
    assert "| of setup\n" in home.run("exec", "dev", "cat made")
    other = tmp_path / "other"
    other.mkdir()
    assert f"| {other}\n" in home.run("exec", "dev", "--workdir", str(other), "pwd")
    assert f"| {other}\n" in home.run("exec", "dev", "pwd")


def test_a_task_is_launched_and_executed(home: Installation, tmp_path: Path) -> None:
    file = tmp_path / "task.yaml"
    file.write_text(TASK)
    said = home.run("launch", "-y", "-c", "dev", str(file))
    lines = {line.partition("| ")[2] for line in said.splitlines()}
    assert lines == {f"setup of {rank}" for rank in (0, 1)} | {
        f"hello from {rank} of 2" for rank in (0, 1)
    }
    said = home.run("exec", "dev", str(file), "--env", "WORD=again")
    assert {line.partition("| ")[2] for line in said.splitlines()} == {
        f"again from {rank} of 2" for rank in (0, 1)
    }
    assert sorted(home.run("logs", "dev", "2").splitlines()) == sorted(said.splitlines())
    assert home.run("logs", "dev", "--status") == "Job 2: SUCCEEDED\n"
    header, *rows = home.run("queue", "dev").splitlines()
    assert header.split() == [
        *("ID", "NAME", "SUBMITTED", "STARTED", "DURATION", "RESOURCES", "STATUS", "LOG"),
    ]
    assert [row.split()[:2] for row in rows] == [["2", "greeting"], ["1", "greeting"]]
    header, row = home.run("status").splitlines()
    assert header.split() == ["NAME", "INFRA", "RESOURCES", "STATUS", "AUTOSTOP", "LAUNCHED"]
    assert row.split()[:5] == ["dev", "local", "2x(cpus=500m)", "UP", "-"]
    (newest, _) = home.json("jobs", "list")["items"]
    assert newest["spec"]["backend"] == "cluster/dev"


@pytest.mark.parametrize(("script", "code"), [("true", 0), ("exit 7", 100)])
def test_the_exit_code_tells_how_the_job_ended(home: Installation, script: str, code: int) -> None:
    home.run("launch", "-y", "-c", "dev", "true")
    home.run("exec", "dev", script, code=code)
    home.run("logs", "dev", "2", code=code)
    home.run("logs", "dev", "2", "--status", code=1 if code else 0)


def test_jobs_run_in_their_order_as_many_as_fit(home: Installation, gate: Gate) -> None:
    first = launch(home, gate, "--cpus", "1")
    assert json.loads(first.env["SKYPILOT_CLUSTER_INFO"])["cluster_name"] == "dev"
    assert first.env["SKYPILOT_TASK_ID"].endswith(f"_dev_{job_id(first)}")
    numbers = [execute(home, gate, name, "--cpus", "1") for name in ("second", "third")]
    numbers.append(execute(home, gate, "small", "--cpus", "0.5"))
    assert numbers == [2, 3, 4]
    wait_for_queue(home, {1: "Running", 2: "Queued", 3: "Queued", 4: "Queued"})
    home.run("logs", "dev", "2", "--no-follow", code=101)
    assert gate.nobody_waits()
    for name in ("second", "third", "small"):
        first.let_go()
        first = gate.next()
        assert first.name == name
    first.let_go()
    home.run("logs", "dev", "4")
    wait_for_queue(home, dict.fromkeys((4, 3, 2, 1), "Succeeded"))
    assert queue(home, "-s") == {}


def test_halves_of_a_gpu_share_it(home: Installation, gate: Gate) -> None:
    first = launch(home, gate, "--gpus", "A100:1")
    first.let_go()
    for name in ("a", "b", "c"):
        execute(home, gate, name, "--gpus", "A100:0.5")
    halves = [gate.next() for _ in range(2)]
    assert {visitor.env["CUDA_VISIBLE_DEVICES"] for visitor in (first, *halves)} == {"0"}
    assert gate.nobody_waits()
    halves[0].let_go()
    last = gate.next()
    for visitor in (halves[1], last):
        visitor.let_go()


def test_jobs_are_cancelled_whether_they_run_or_wait(home: Installation, gate: Gate) -> None:
    running = launch(home, gate, "--cpus", "1")
    execute(home, gate, "waiting", "--cpus", "1")
    execute(home, gate, "last", "--cpus", "1")
    wait_for_queue(home, {1: "Running", 2: "Queued", 3: "Queued"})
    assert home.run("cancel", "dev", "2", "-y") == "job 2 cancelled\n"
    assert home.run("cancel", "dev", "-y") == "job 1 cancelled\n", "the newest that runs"
    assert not is_alive(running.pid)
    last = gate.next()
    assert last.name == "last"
    assert home.run("cancel", "dev", "--all", "-y") == "job 3 cancelled\n"
    assert not is_alive(last.pid)
    home.run("logs", "dev", "1", code=103)
    home.run("cancel", "dev", "9", "-y", code=102)


def test_down_with_running_jobs_leaves_no_process(home: Installation, gate: Gate) -> None:
    home.run(
        *("launch", "-y", "-d", "-c", "dev", "--cpus", "0.5", "--num-nodes", "2", "--"),
        *gate.command("stubborn", "ignore-sigterm"),
    )
    visitors = [gate.next() for _ in range(2)]
    execute(home, gate, "waiting", "--cpus", "0.5")
    assert gate.nobody_waits()
    home.run("down", "dev", "-y")
    assert not any(is_alive(visitor.pid) for visitor in visitors)
    assert processes_of(job_id(visitors[0])) == []
    assert states(home) == {}
    until(lambda: phases(home) == ["Cancelled", "Cancelled"], "its jobs are not cancelled")


def test_a_killed_server_changes_nothing_for_a_cluster(home: Installation, gate: Gate) -> None:
    first = launch(home, gate, "--cpus", "1")
    execute(home, gate, "second", "--cpus", "1")
    kill(home.server_pid())
    first.let_go()
    second = gate.next()
    assert second.name == "second", "the queue goes on without a server"
    second.let_go()
    home.run("logs", "dev", "1")
    assert "second through the gate" in home.run("logs", "dev", "2")
    assert execute(home, gate, "third") == 3
    gate.next().let_go()
    home.run("logs", "dev", "3")
    assert set(queue(home).values()) == {"Succeeded"}


def test_a_killed_agent_is_replaced_and_knows_its_clusters(home: Installation, gate: Gate) -> None:
    first = launch(home, gate, "--cpus", "1")
    execute(home, gate, "second", "--cpus", "1")
    (agent,) = [pid for pid in agents(home.home) if b"\0pool\0" in command_line(pid)]
    kill(agent)
    assert is_alive(first.pid)
    first.let_go()
    second = gate.next()
    assert second.name == "second"
    assert states(home) == {"dev": "UP"}
    second.let_go()
    home.run("logs", "dev", "2")
    wait_for_queue(home, {2: "Succeeded", 1: "Succeeded"})


def test_an_idle_cluster_goes_down_without_a_server(home: Installation, gate: Gate) -> None:
    first = launch(home, gate, "-i", "0", "--down")
    kill(home.server_pid())
    assert is_alive(first.pid)
    first.let_go()
    await_states(home.home, {})
    assert states(home) == {}
    assert home.run("run", "--cpus", "2", "--", "echo", "free").endswith("free\n")


def test_a_cluster_that_idles_does_not_lock_the_machine(home: Installation, gate: Gate) -> None:
    launch(home, gate, "--cpus", "2").let_go()
    wait_for_queue(home, {1: "Succeeded"})
    mine = home.submit("-n", "mine", "--cpus", "2", "--", *gate.command())
    holder = gate.next()
    execute(home, gate, "second", "--cpus", "2")
    wait_for_queue(home, {2: "Queued", 1: "Succeeded"})
    why = f"needs 2 CPUs, 0 free; mine holds 2 CPUs (to free that: trainway jobs cancel {mine})"
    until(lambda: newest(home)["job"]["status"]["message"] == why, "it is not said why it waits")
    holder.let_go()
    visitor = gate.next()
    blocked = home.submit("--cpus", "2", "--", "true")
    shown = home.run("jobs", "show", blocked)
    assert "needs 2 CPUs, 0 free; job 2 of cluster dev holds 2 CPUs (to free that: " in shown
    assert "trainway cancel dev 2)" in shown
    visitor.let_go()
    home.run("jobs", "wait", blocked)


def test_a_stopped_cluster_holds_nothing_and_starts_again(home: Installation, gate: Gate) -> None:
    first = launch(home, gate, "--cpus", "2")
    waiting = home.submit("--cpus", "2", "--", "true")
    assert home.phase(waiting) == "Queued"
    home.run("stop", "dev", "-y")
    assert not is_alive(first.pid)
    home.run("jobs", "wait", waiting)
    home.run("exec", "dev", "true", code=1)
    assert states(home) == {"dev": "STOPPED"}
    home.run("start", "dev")
    home.run("exec", "dev", "true")
    home.run("autostop", "dev", "-i", "0")
    await_states(home.home, {"dev": "STOPPED"})
    home.run("launch", "-y", "-c", "dev", "true")


def test_what_is_wrong_is_said_in_a_line(home: Installation) -> None:
    home.run("launch", "-y", "-c", "dev", "--autostop-typo", "true", code=2)
    home.run("launch", "-y", "-c", "dev", "--cpus", "64", "true", code=1)
    home.run("launch", "-y", "-c", "no/name", "true", code=2)
    home.run("launch", "-y", "-c", "dev", "--infra", "k8s/test", "true", code=2)
    home.run("launch", "-y", "-c", "dev", "missing.yaml", code=2)
    home.run("launch", "-y", "-c", "dev", "true")
    home.run("exec", "dev", "--cpus", "2", "true", code=1)
    home.run("exec", "dev", "--num-nodes", "2", "true", code=1)
    for verb in ("stop", "start", "down", "autostop"):
        home.run(verb, "dex", "-y", code=3)
        home.run(verb, "-y", code=2)
    for verb in ("logs", "exec", "queue", "ssh"):
        home.run(verb, "dex", *(["true"] if verb == "exec" else []), code=3)
    home.run("down", "dev", code=2)
    said = home.run("ssh", "dev", "pwd")
    assert said == f"{home.home / 'clusters' / 'dev'}\n"
