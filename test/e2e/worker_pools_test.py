"""Worker pools of this machine, with the installed command and real processes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gate import Gate
from installation import Installation, kill
from local_clusters import on_machine
from patience import until

MACHINE = {"cpu": "2", "memory": "8Gi", "gpus": 0}
EXAMPLE = str(Path(__file__).parents[2] / "examples" / "worker-pool.yaml")


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with on_machine(tmp_path_factory.mktemp("home"), MACHINE) as installation:
        yield installation


@pytest.fixture
def home(installation: Installation) -> Iterator[Installation]:
    yield installation
    installation.run("jobs", "pool", "down", "--all", "--yes", "--cancel-jobs")


def pool(home: Installation, name: str) -> Any:
    """How a pool stands."""
    return home.get(f"/worker-pools/{name}")["status"]


def apply(home: Installation, folder: Path, text: str) -> None:
    """Make a pool from the text of a file."""
    file = folder / "pool.yaml"
    file.write_text(text)
    home.run("jobs", "pool", "apply", str(file))


def told(home: Installation, *words: str, code: int = 0) -> str:
    """All that a command says."""
    process = home.start(*words)
    printed, _ = process.communicate()
    assert process.returncode == code, printed
    return printed


def until_ready(home: Installation, name: str, count: int) -> None:
    """Wait until so many workers are ready."""
    until(lambda: pool(home, name)["readyWorkers"] == count, "its workers are not ready")


def test_the_example_from_apply_to_down(home: Installation, gate: Gate) -> None:
    assert "worker pool warm has 2 workers on local" in home.run("jobs", "pool", "apply", EXAMPLE)
    until_ready(home, "warm", 2)
    printed = home.run("jobs", "pool", "status")
    assert "POOL_NAME" in printed
    assert printed.count("READY") == 3
    assert "hi from a worker" in home.run("jobs", "launch", "-p", "warm", "echo hi from a worker")
    ids = [home.submit("-p", "warm", "--", *gate.command(name)) for name in ("a", "b", "c")]
    first, second = gate.next(), gate.next()
    assert {first.name, second.name} == {"a", "b"}
    shown = home.run("jobs", "show", ids[2])
    assert "waits for a worker of the worker pool warm: all 2 workers are busy" in shown
    assert "warm-1" in home.run("jobs", "show", ids[0])
    home.run("jobs", "pool", "down", "warm", "-y", code=1)
    first.let_go()
    third = gate.next()
    assert third.name == "c"
    for visitor in (second, third):
        visitor.let_go()
    home.run("jobs", "wait", *ids)
    assert "warm is down" in home.run("jobs", "pool", "down", "warm", "-y")
    assert home.get("/clusters")["items"] == []


def test_setup_runs_once_and_its_files_are_there(home: Installation, tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    text = "name: made\npool: {workers: 1}\nworkdir: code\nsetup: echo once >>made.txt\n"
    apply(home, tmp_path, text.replace("code", str(tmp_path / "code")))
    until_ready(home, "made", 1)
    task = tmp_path / "task.yaml"
    task.write_text("setup: exit 1\nrun: cat made.txt\n")
    for _ in range(2):
        printed = told(home, "run", "-p", "made", str(task))
        assert printed.count("| once") == 1
        assert "setup: it is left out" in printed


def test_a_killed_server_and_a_pool_that_grows(
    home: Installation, gate: Gate, tmp_path: Path
) -> None:
    apply(home, tmp_path, "name: grow\npool: {min_workers: 0, max_workers: 2}\n"
          "resources: {cpus: 1}\nsetup: sleep 0.1\n")  # fmt: skip
    assert pool(home, "grow")["workers"] == []
    ids = [home.submit("-p", "grow", "--", *gate.command(name)) for name in ("a", "b", "c")]
    kill(home.server_pid())
    home.run("jobs", "pool", "status")
    first, second = gate.next(), gate.next()
    assert len(pool(home, "grow")["workers"]) == 2
    kill(home.server_pid())
    home.run("jobs", "pool", "status")
    first.let_go()
    third = gate.next()
    second.let_go()
    third.let_go()
    home.run("jobs", "wait", *ids)
    assert [home.phase(each) for each in ids] == ["Succeeded"] * 3


def test_what_is_wrong_is_said_once(home: Installation, tmp_path: Path) -> None:
    file = tmp_path / "pool.yaml"
    for text, said in (
        ("pool: {workers: 1}\nrun: echo\n", "run: a worker pool has only a setup"),
        ("setup: echo\n", "pool: it is missing"),
        ("pool: {workers: 0}\n", "needs at least one worker"),
        ("pool: {workers: 1}\nresources: {cpus: 64}\n", "can never start: it needs 64 CPUs"),
    ):
        file.write_text(text)
        assert said in told(home, "jobs", "pool", "apply", str(file), code=1)
    nope = "there is no worker pool 'nope'"
    assert nope in told(home, "run", "-p", "nope", "--", "true", code=3)
    assert nope in told(home, "jobs", "pool", "down", "nope", "-y", code=3)
    assert home.get("/worker-pools")["items"] == []
