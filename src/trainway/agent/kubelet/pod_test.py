"""Pods without real processes: the test decides how they end."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from trainway.agent.base.clock import Clock
from trainway.agent.base.directory import Directory
from trainway.agent.base.event_loop import EventLoop
from trainway.agent.base.journal import Journal
from trainway.agent.base.plan import Plan
from trainway.agent.base.pod_identity import PodIdentity
from trainway.agent.environment.shelf import Shelf
from trainway.agent.kubelet import container
from trainway.agent.kubelet.command import Command
from trainway.agent.kubelet.node import Node
from trainway.agent.kubelet.pod import Pod
from trainway.agent.kubelet.processes import Listener, Process, ProcessTable
from trainway.json_types import Json


class FakeProcesses(ProcessTable):
    """Processes that run until the test ends them. A name says which container one belongs to."""

    def __init__(self) -> None:
        self.running: dict[str, Process] = {}
        self.started: list[str] = []
        self.asked_to_stop: list[str] = []

    def start(self, command: Command, listener: Listener, *, with_output: bool) -> Process:
        assert with_output
        name = command.mark.partition("/")[2]
        process = Process(len(self.started) + 1, command.mark, listener)
        self.running[name] = process
        self.started.append(name)
        listener.on_started()
        return process

    def terminate(self, process: Process) -> None:
        self.asked_to_stop.append(process.mark.partition("/")[2])

    def kill(self, process: Process) -> None:
        self.end(process.mark.partition("/")[2], 137)

    def end(self, name: str, code: int = 0) -> None:
        process = self.running.pop(name)
        process.exit_code = code
        process.listener.on_gone(process)


class World:
    """A pod with everything around it."""

    def __init__(self, path: Path, spec: Json, *, held: bool = False, **more: Any) -> None:
        role = {"name": "node", "template": {"spec": {"template": {"spec": spec}}}}
        jobset = {"metadata": {"name": "js"}, "spec": {"replicatedJobs": [role]}}
        plan = Plan({"version": 1, "id": "i", "name": "js", "jobset": jobset, **more})
        self.loop, self.processes = EventLoop(), FakeProcesses()
        directory = Directory(str(path))
        directory.make("logs")
        clock = Clock()
        journal = Journal(directory, clock.now)
        node = Node(plan, directory, self.loop, self.processes, journal, clock)
        node.holds_prepared_pods = held
        identity = PodIdentity(plan, plan.roles[0], job_index=0, slot=0, uid="0123456789ab")
        self.pod = Pod(identity, node, lambda _pod: None)

    def end(self, name: str, code: int = 0) -> None:
        """A container's process ends."""
        self.processes.end(name, code)
        self.settle()

    def settle(self, seconds: float = 0.0) -> None:
        """Let the loop turn, for a while where something is to be waited for."""
        give_up = time.monotonic() + seconds
        turns = 0
        while turns < 4:
            turns += time.monotonic() >= give_up
            self.loop.call_soon(lambda: None)
            self.loop.turn()

    @property
    def running(self) -> list[str]:
        return list(self.processes.running)


@pytest.fixture
def world(tmp_path: Path, request: pytest.FixtureRequest) -> World:
    made = World(tmp_path, request.param)
    made.pod.start()
    made.settle(2 * container.HEAD_START if SIDE in request.param.get("initContainers", ()) else 0)
    return made


def pod(*names: str, init: tuple[Json, ...] = (), **spec: Any) -> Json:
    containers = [{"name": name, "command": ["x"]} for name in names or ("main",)]
    spec = {"restartPolicy": "Never", "initContainers": list(init), **spec}
    return {"containers": containers, **spec}


def init(name: str, **more: Any) -> Json:
    return {"name": name, "command": ["x"], **more}


SIDE = init("side", restartPolicy="Always")


@pytest.mark.parametrize("world", [pod(init=(init("one"), init("two")))], indirect=True)
def test_init_containers_run_in_order(world: World) -> None:
    assert (world.running, world.pod.phase) == (["one"], "Pending")
    world.end("one")
    assert world.running == ["two"]
    world.end("two")
    assert (world.running, world.pod.phase) == (["main"], "Running")
    assert world.pod.status().ready
    world.end("main")
    assert world.pod.phase == "Succeeded"


@pytest.mark.parametrize("world", [pod(init=(init("one"),))], indirect=True)
def test_a_failed_init_container_fails_the_pod(world: World) -> None:
    world.end("one", 3)
    assert (world.pod.phase, world.pod.reason) == ("Failed", "InitContainerFailed")
    assert world.processes.started == ["one"]
    assert world.pod.status().exit_codes == [("one", 3)]


@pytest.mark.parametrize(
    "world", [pod(init=(init("one"),), restartPolicy="OnFailure")], indirect=True
)
def test_or_runs_again_in_its_pod(world: World) -> None:
    world.end("one", 3)
    world.settle()
    assert world.processes.started == ["one", "one"]
    assert len(world.pod.status().restart_times) == 1
    world.end("one")
    assert world.running == ["main"]


@pytest.mark.parametrize("world", [pod("a", "b")], indirect=True)
def test_a_failed_container_waits_for_the_others(world: World) -> None:
    world.end("b", 1)
    assert (world.pod.phase, world.pod.status().ready) == ("Running", False)
    world.end("a")
    assert world.pod.phase == "Failed"
    assert world.pod.status().exit_codes == [("a", 0), ("b", 1)]


def test_a_sidecar_runs_for_a_moment_before_what_comes_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container, "HEAD_START", 3600.0)
    world = World(tmp_path, pod(init=(SIDE,)))
    world.pod.start()
    world.settle()
    assert (world.running, world.pod.phase) == (["side"], "Pending")


@pytest.mark.parametrize("world", [pod(init=(SIDE, init("one")))], indirect=True)
def test_sidecars_stay_come_back_and_go_last(world: World) -> None:
    assert world.running == ["side", "one"]
    world.end("one")
    assert (world.running, world.pod.phase) == (["side", "main"], "Running")
    world.end("side", 1)
    world.settle()
    assert world.running == ["main", "side"]
    world.end("main")
    assert (world.processes.asked_to_stop, world.pod.phase) == (["side"], "Running")
    world.end("side", 143)
    assert world.pod.phase == "Succeeded"


@pytest.mark.parametrize("world", [pod(restartPolicy="OnFailure")], indirect=True)
def test_crashes_are_put_off_more_and_more(world: World) -> None:
    world.end("main", 1)
    world.settle()
    assert world.processes.started == ["main", "main"]
    world.end("main", 1)
    world.settle()
    assert world.running == []
    assert world.pod.phase == "Running"
    world.settle(1.1)
    assert world.running == ["main"]


@pytest.mark.parametrize(
    "world", [pod("a", "b", init=(SIDE,), terminationGracePeriodSeconds=9)], indirect=True
)
def test_deleting_stops_main_containers_before_sidecars(world: World) -> None:
    world.pod.delete()
    world.settle()
    assert world.processes.asked_to_stop == ["a", "b"]
    world.end("a")
    world.end("b", 143)
    assert world.processes.asked_to_stop == ["a", "b", "side"]
    world.end("side")
    assert (world.pod.phase, world.pod.deleted) == ("Failed", True)


@pytest.mark.parametrize("world", [pod()], indirect=True)
def test_a_deleted_pod_that_ends_well_succeeded(world: World) -> None:
    world.pod.delete()
    world.settle()
    world.end("main", 0)
    assert world.pod.phase == "Succeeded"


@pytest.mark.parametrize("world", [pod(activeDeadlineSeconds=0)], indirect=True)
def test_a_pod_has_a_deadline(world: World) -> None:
    world.settle()
    assert world.processes.asked_to_stop == ["main"]
    world.end("main", 0)
    assert (world.pod.phase, world.pod.reason) == ("Failed", "DeadlineExceeded")


@pytest.mark.parametrize("world", [pod(containers=[{"name": "main"}])], indirect=True)
def test_without_a_command_nothing_runs(world: World) -> None:
    assert (world.pod.phase, world.pod.reason) == ("Failed", "NoCommand")
    assert "give it a command" in world.pod.message
    assert world.processes.started == []


@pytest.mark.parametrize("world", [pod("a", "b")], indirect=True)
def test_each_change_is_written_once(world: World, tmp_path: Path) -> None:
    world.end("a")
    world.end("b")
    world.settle()
    lines = (tmp_path / "journal.jsonl").read_text().splitlines()
    assert [line.count('"terminated"') for line in lines] == [0, 0, 1, 2]


MAKER = "trainway-environment"
KEY = "0123456789abcdef0123"


class Environment:
    """A pod whose job asks for packages, and what would make them."""

    def __init__(self, path: Path, *, held: bool = False, **told: Any) -> None:
        (path / "job").mkdir()
        self.shelf = Shelf(str(path / "environments"))
        self.shelf.prepare()
        spec = pod("main", "other", init=(init("one"),), restartPolicy="OnFailure")
        plan = {"requirements": "six", "without": [], **told}
        env = {"PATH": "/bin"}
        self.world = World(path / "job", spec, held=held, environment=plan, env=env)
        self.result = path / "job" / "environment" / "0123456789ab.json"
        self.world.pod.start()
        self.world.settle()

    def put(self, key: str) -> None:
        """An environment that is whole."""
        Path(self.shelf.path(key)).mkdir()
        self.shelf.finish(key, {})

    def say(self, code: int = 0, **told: Any) -> None:
        """The maker ends."""
        if told:
            self.result.write_text(json.dumps({"folder": self.shelf.folder, **told}))
        self.world.end(MAKER, code)

    def variables(self) -> dict[str, tuple[str | None, str | None]]:
        commands = {item.name: item.command for item in self.world.pod.containers}
        return {
            name: (command.env.get("PATH"), command.env.get("VIRTUAL_ENV"))
            for name, command in commands.items()
            if command is not None
        }


def test_an_environment_is_made_before_all_containers(tmp_path: Path) -> None:
    mine = Environment(tmp_path)
    world = mine.world
    assert (world.running, world.pod.phase) == ([MAKER], "Pending")
    asked = mine.result.with_suffix(".txt")
    assert asked.read_text() == "six"
    mine.put(KEY)
    mine.say(key=KEY, message="made")
    assert world.running == ["one"]
    path = mine.shelf.path(KEY)
    found = (f"{path}/bin:/bin", path)
    assert mine.variables() == {
        MAKER: ("/bin", None), "one": found, "main": found, "other": found,
    }  # fmt: skip
    assert mine.shelf.prune(-1, 0.0) == [], "it is in use"
    for name in ("one", "main", "other"):
        world.end(name)
    assert world.pod.phase == "Succeeded"
    assert [entry.key for entry in mine.shelf.prune(-1, 0.0)] == [KEY]
    assert os.listdir(mine.result.parent) == []


def test_on_hosts_a_pod_waits_until_all_pods_have_their_environments(tmp_path: Path) -> None:
    mine = Environment(tmp_path, held=True)
    world = mine.world
    assert "prepared" not in world.pod.record()
    mine.put(KEY)
    mine.say(key=KEY, message="made")
    assert (world.running, world.pod.record()["prepared"]) == ([], True)
    assert mine.shelf.prune(-1, 0.0) == [], "it is in use already"
    world.pod.let_go()
    world.settle()
    assert world.running == ["one"]


def test_where_python_has_all_packages_nothing_changes(tmp_path: Path) -> None:
    mine = Environment(tmp_path)
    mine.say(key="", message="installed already")
    assert mine.world.running == ["one"]
    assert mine.variables()["main"] == ("/bin", None)


def test_one_that_was_removed_meanwhile_is_made_again(tmp_path: Path) -> None:
    mine = Environment(tmp_path)
    mine.say(key=KEY, message="there already")
    assert mine.world.running == [MAKER]
    mine.put(KEY)
    mine.say(key=KEY, message="made")
    assert mine.world.running == ["one"]


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"failure": "nothing like it"}, "nothing like it"),
        ({}, "what makes the environment did not finish: it ended with 137"),
        ({"key": "k"}, "what makes the environment did not finish: it ended with 137"),
    ],
)
def test_a_pod_without_its_environment_fails_at_once(
    told: Json, message: str, tmp_path: Path
) -> None:
    mine = Environment(tmp_path)
    mine.say(137, **told)
    assert (mine.world.pod.phase, mine.world.pod.reason) == ("Failed", "EnvironmentFailed")
    assert mine.world.pod.message == message
    assert mine.world.processes.started == [MAKER], "restartPolicy is for the job's own containers"


def test_some_roles_have_none(tmp_path: Path) -> None:
    assert Environment(tmp_path, without=["node"]).world.running == ["one"]


def test_a_pod_is_deleted_while_its_environment_is_made(tmp_path: Path) -> None:
    mine = Environment(tmp_path)
    mine.world.pod.delete()
    mine.world.settle()
    assert mine.world.processes.asked_to_stop == [MAKER]
    mine.say(143)
    assert (mine.world.pod.phase, mine.world.processes.started) == ("Failed", [MAKER])
