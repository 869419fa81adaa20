from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

import pytest

from trainway.agent.base.event_loop import EventLoop
from trainway.agent.pool.holding import relay_link
from trainway.agent.pool.holding.relay_link import HoldRelay, RelayListener, relay_host
from trainway.agent.transfer import link
from trainway.json_types import Json

if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.pool.holding.relay_link import AnyRelay


PATIENCE = 60.0
RELAY = """
import json, sys
for line in sys.stdin:
    frame = json.loads(line)
    answer = {"event": "answer", "request": frame["request"], "ok": True, "home": "/home/me"}
    if frame["op"] == "die":
        sys.exit("the end")
    if frame["op"] == "submit":
        print(json.dumps({"event": "slurm", "id": frame["id"], "state": "PENDING"}))
    print(json.dumps(answer), flush=True)
"""


class Listener(RelayListener):
    def __init__(self) -> None:
        self.heard: list[str] = []

    def on_ready(self, relay: AnyRelay) -> None:
        self.heard.append(f"ready {relay.home}")

    def on_slurm(self, frame: Json) -> None:
        self.heard.append(f"{frame['id']} {frame['state']}")

    def on_absent(self, relay: AnyRelay) -> None:
        self.heard.append(f"absent {relay.absence.message}")


class World:
    """A relay that is a few lines long."""

    def __init__(self) -> None:
        self.loop = EventLoop()
        self.listener = Listener()
        cluster: Json = {"name": "hpc", "login": "", "env": {}}
        self.relay = HoldRelay(
            cluster, self.loop, lambda: link.Archive("", ""), lambda: os.environ, self.listener
        )
        self.relay.open()

    def until(self, so: Callable[[], object]) -> None:
        give_up = time.monotonic() + PATIENCE
        while not so():
            assert time.monotonic() < give_up, self.listener.heard
            self.loop.call_later(0.05, lambda: None)
            self.loop.turn()


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    command = [sys.executable, "-c", RELAY]
    host = {"name": "hpc", "command": command, "by_hand": "sinfo"}
    monkeypatch.setattr(relay_link, "relay_host", lambda _cluster: host)
    monkeypatch.setattr(link, "RETRY_SECONDS", 0.0)
    return World()


def test_it_answers_and_tells_what_slurm_says(world: World) -> None:
    answers: list[Json] = []
    world.until(lambda: world.relay.is_ready)
    world.relay.ask("submit", answers.append, id="1")
    world.until(lambda: answers)
    assert answers[0]["ok"]
    assert world.listener.heard == ["ready /home/me", "1 PENDING"]
    world.relay.close()


def test_when_it_ends_questions_are_answered_and_another_one_begins(world: World) -> None:
    answers: list[Json] = []
    world.until(lambda: world.relay.is_ready)
    world.relay.ask("die", answers.append)
    world.until(lambda: len(world.listener.heard) == 3)
    assert answers[0]["retry"]
    assert answers[0]["error"] == "the end"
    assert world.listener.heard[1:] == ["absent the end", "ready /home/me"]
    world.relay.close()
    world.relay.ask("ping", answers.append)
    world.until(lambda: len(answers) == 2)
    assert answers[1]["retry"]


def test_it_runs_here_or_on_the_login_node() -> None:
    here = relay_host({"name": "hpc", "login": "", "home": "/shared"})
    assert here["command"][-4:] == ["slurm", "relay", "--home", "/shared"]
    there = relay_host({"name": "hpc", "login": "me@login", "env": {"PATH": "/opt"}})
    assert (there["destination"], there["env"]) == ("me@login", {"PATH": "/opt"})
    assert "command" not in there
