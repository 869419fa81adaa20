"""The order in which a receiver gets what happened, without processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.base.journal import Journal
from trainway.agent.transfer.feed import Feed, Position
from trainway.json_types import Json

LOG = "node-0-0.main.0.log"


class World:
    """A job's directory, and a receiver."""

    def __init__(self, path: Path) -> None:
        self.path = path
        for name in ("logs", "output"):
            (path / name).mkdir()
        self.directory = Directory(str(path))
        self.journal = Journal(self.directory, lambda: 0.0)
        self.unclear: set[str] = set()

    def feed(self, **position: Any) -> Feed:
        return Feed(
            self.directory,
            self.journal,
            Position(position),
            is_clear=lambda uid: uid not in self.unclear,
            with_outputs=True,
        )

    def pod(self, phase: str, uid: str = "u") -> None:
        fields: Json = {"pod": "node-0-0", "uid": uid, "attempt": 0, "phase": phase}
        self.journal.append("pod", {**fields, "containers": [{"name": "main"}]})

    def log(self, text: bytes) -> None:
        with (self.path / "logs" / LOG).open("ab") as file:
            file.write(text)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def drained(feed: Feed) -> list[str]:
    """What comes, in a few words each."""
    found: list[str] = []
    while True:
        frame = feed.next()
        if frame is None:
            return found
        if frame["event"] == "record":
            found.append(str(frame.get("phase")))
        elif frame["event"] == "log":
            found.append(f"log@{frame['offset']}")
        else:
            found.append(frame["path"])


def test_the_end_of_a_pod_comes_after_its_log_and_its_output(world: World) -> None:
    world.pod("Running")
    world.log(b"one\n")
    (world.path / "output" / "x").write_bytes(b"x")
    world.pod("Succeeded")
    found = drained(world.feed())
    assert found[0] == "Running"
    assert found[-1] == "Succeeded"
    assert sorted(found[1:-1]) == ["log@0", "output/x"]


def test_the_end_of_a_pod_waits_until_nothing_of_it_is_left(world: World) -> None:
    world.unclear.add("u")
    world.pod("Failed")
    feed = world.feed()
    assert drained(feed) == []
    world.unclear.clear()
    assert drained(feed) == ["Failed"]


def test_other_records_do_not_wait_for_logs(world: World) -> None:
    world.log(b"x" * 1000 + b"\n")
    world.pod("Running")
    first = world.feed().next()
    assert first is not None
    assert first["event"] == "record"


def test_a_line_is_sent_when_it_is_whole_or_its_pod_has_ended(world: World) -> None:
    feed = world.feed()
    world.log(b"one\ntw")
    feed.logs.touched(LOG)
    assert drained(feed) == ["log@0"]
    world.log(b"o")
    feed.logs.touched(LOG)
    assert drained(feed) == []
    world.pod("Failed")
    assert drained(feed) == ["log@4", "Failed"]


def test_a_receiver_goes_on_where_it_was_even_within_a_line(world: World) -> None:
    world.log(b"one\ntwo\n")
    for phase in ("Pending", "Running", "Succeeded"):
        world.pod(phase)
    assert drained(world.feed(after=1, logs={LOG: 2})) == ["log@2", "Succeeded"]
    assert drained(world.feed(after=2, logs={LOG: 8})) == []


def test_output_that_the_receiver_has_is_not_sent_again(world: World) -> None:
    file = world.path / "output" / "x"
    file.write_bytes(b"x")
    world.pod("Succeeded")
    known = {"output/x": [1, file.stat().st_mtime_ns]}
    assert drained(world.feed(outputs=known)) == ["Succeeded"]


def test_one_look_does_for_all_pods_that_have_ended(world: World) -> None:
    (world.path / "output" / "x").write_bytes(b"x")
    for number in range(3):
        world.pod("Succeeded", uid=str(number))
    feed = world.feed()
    assert drained(feed) == ["output/x", "Succeeded", "Succeeded", "Succeeded"]
    (world.path / "output" / "y").write_bytes(b"y")
    world.pod("Failed", uid="3")
    assert drained(feed) == ["output/y", "Failed"]
