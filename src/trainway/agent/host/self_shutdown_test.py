"""A machine that nobody looks after shuts itself down, whichever daemon was told so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.host.self_shutdown import AGAIN_SECONDS, NAME, SHUTDOWN, SelfShutdown


class FakeProcesses:
    """Keeps what is started."""

    def __init__(self) -> None:
        self.commands: list[str] = []

    def start(self, command: Any, listener: Any, *, with_output: bool) -> None:
        """Keep the line that root is to run."""
        assert not with_output
        self.commands.append(command.argv[-1])
        listener.answer(False)


class TestMachine:
    """A machine whose time passes when the test says so."""

    __test__ = False

    def __init__(self, path: Path) -> None:
        self.home = Directory(str(path))
        self.processes = FakeProcesses()
        self.time = 0.0
        self.start()

    def start(self) -> None:
        """Begin another daemon."""
        processes: Any = self.processes
        self.shutdown = SelfShutdown(self.home, processes, {}, lambda: self.time)

    def attend(self, seconds: float | None, command: str = "") -> None:
        """Say that a server is there."""
        self.shutdown.attend({"op": "attend", "seconds": seconds, "command": command})

    def later(self, seconds: float, *, busy: bool = False) -> list[str]:
        """Let time pass; what was run meanwhile."""
        before = len(self.processes.commands)
        end = self.time + seconds
        while self.time < end:
            self.time = min(end, self.time + 5)
            self.shutdown.look(busy=busy)
        return self.processes.commands[before:]


@pytest.fixture
def machine(tmp_path: Path) -> TestMachine:
    return TestMachine(tmp_path)


def test_a_machine_that_was_told_nothing_never_ends(machine: TestMachine) -> None:
    assert not machine.shutdown.is_on
    assert machine.later(100_000) == []


def test_it_ends_when_nobody_was_heard_and_nothing_ran(machine: TestMachine) -> None:
    machine.attend(60)
    assert machine.shutdown.is_on
    assert machine.later(55) == []
    machine.attend(60)
    assert machine.later(55) == []
    assert machine.later(600, busy=True) == []
    assert machine.later(55) == []
    assert machine.later(5) == [SHUTDOWN]


def test_a_shutdown_that_fails_is_tried_again(machine: TestMachine) -> None:
    machine.attend(60, "poweroff")
    assert machine.later(60) == ["poweroff"]
    assert machine.later(AGAIN_SECONDS - 5) == []
    assert machine.later(5) == ["poweroff"]


def test_the_next_daemon_knows_and_begins_to_count_anew(machine: TestMachine) -> None:
    machine.attend(60, "poweroff")
    machine.later(55)
    machine.start()
    assert machine.shutdown.is_on
    assert machine.later(55) == []
    assert machine.later(5) == ["poweroff"]


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_a_time_that_makes_no_sense_is_refused(machine: TestMachine, seconds: float) -> None:
    with pytest.raises(ValueError, match="no time to wait"):
        machine.attend(seconds)
    assert machine.later(1000) == []


def test_what_is_taken_back_is_forgotten(machine: TestMachine) -> None:
    machine.attend(60)
    machine.attend(None)
    machine.start()

    assert not machine.shutdown.is_on
    assert machine.later(1000) == []


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"seconds": "soon"}', '{"seconds": null}'])
def test_a_file_that_makes_no_sense_ends_nothing(machine: TestMachine, text: str) -> None:
    machine.home.write(NAME, text.encode())
    machine.start()

    assert not machine.shutdown.is_on


def test_a_full_disk_changes_nothing_but_what_the_next_daemon_knows(
    machine: TestMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain: Callable[..., None] = machine.home.replace

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(machine.home, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        machine.attend(60)
    assert machine.later(60) == [SHUTDOWN]
    monkeypatch.setattr(machine.home, "replace", plain)
    machine.attend(60)
    assert json.loads(machine.home.read(NAME)) == {"seconds": 60.0, "command": ""}
