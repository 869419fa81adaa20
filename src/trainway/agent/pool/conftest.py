"""A gang in a pool of hosts that do what the test says."""

import base64
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from trainway.agent.base.clock import Clock
from trainway.agent.base.directory import Directory
from trainway.agent.base.event_loop import EventLoop
from trainway.agent.base.testing import container, jobset, role
from trainway.agent.pool.gang import Gang
from trainway.agent.pool.placement import Placement
from trainway.json_types import Json

SPREAD = {"node-0-0": "a", "node-0-1": "b"}


class ScriptedHost:
    """A host that takes what it is sent; the test lets it speak."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.state = "up"
        self.address = f"10.0.0.{ord(name)}"
        self.port = 22
        self.env = {"HOST": name}
        self.join: Json = {}
        self.facts: Json = {"jobs": {}, "user": "me", "host_keys": [f"key-{name}"]}
        self.frames: list[Json] = []
        self.seq = -1


class ScriptedPool:
    """A pool without processes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.loop = EventLoop()
        self.clock = Clock()
        self.hosts = {name: ScriptedHost(name) for name in "abc"}
        self.changes = 0
        self.aside: dict[str, str] = {}

    def loop_of(self, _gang: Gang) -> EventLoop:
        return self.loop

    def host(self, name: str) -> ScriptedHost | None:
        return self.hosts.get(name)

    def changed(self, _gang: Gang) -> None:
        self.changes += 1

    def silence(self, name: str) -> str:
        return f"host {name} does not answer"

    def is_last(self, name: str) -> bool:
        return self.hosts.keys() - self.aside.keys() <= {name}

    def set_aside(self, name: str, why: str, _by: str) -> None:
        self.aside[name] = why

    def resized(self, _gang: Gang) -> None:
        self.changes += 1

    def send(self, host: str, frame: Mapping[str, object]) -> bool:
        if self.hosts[host].state == "up":
            self.hosts[host].frames.append(json.loads(json.dumps(frame)))
            return True
        return False

    def backlog(self, _host: str) -> int:
        return 0

    def when_room(self, _host: str, callback: Callable[[], object]) -> None:
        self.loop.call_soon(callback)


class GangWorld:
    """One job in a pool of three hosts."""

    def __init__(self, path: Path, spec: Json | None = None, **plan: Any) -> None:
        self.path = path
        more = {"parallelism": 2, "completions": 2}
        self.data: Json = {
            "version": 1,
            "id": "job",
            "name": "trial",
            "jobset": spec or jobset(role("node", container("main", "true"), **more)),
            "demand": [{"pod": key, "cpus": 1} for key in SPREAD],
            **plan,
        }
        self.pool = ScriptedPool(path)
        self.answers: list[Json] = []
        self.gang = self._gang()
        self.gang.adopt()

    def _gang(self) -> Gang:
        return Gang(self.pool, Directory(str(self.path)), self.data, 1)

    def reborn(self) -> None:
        """The pool agent dies, and another one takes over; nothing was said meanwhile."""
        self.pool.loop = EventLoop()
        for host in self.pool.hosts.values():
            host.frames = []
        self.gang = self._gang()
        self.gang.adopt()
        self.settle()

    def settle(self) -> None:
        for _ in range(8):
            self.pool.loop.call_soon(lambda: None)
            self.pool.loop.turn()

    def place(self, hosts: dict[str, str] = SPREAD) -> None:
        devices = {key: {"gpus": ["0"]} for key in hosts}
        self.gang.place(Placement(dict(hosts), devices))
        for name in hosts.values():
            self.pool.hosts[name].seq = -1
        self.settle()

    def ops(self, host: str) -> list[str]:
        """What a host was told since it was last asked for this."""
        frames, self.pool.hosts[host].frames = self.pool.hosts[host].frames, []
        self.last = frames
        return [frame["op"] for frame in frames]

    def uid(self, key: str) -> str:
        """The uid of the newest pod of that name."""
        return str(next(r["uid"] for r in reversed(self.records("pod")) if r["pod"] == key))

    def over(self) -> bool:
        return self.gang.ended

    def wants_place(self) -> bool:
        return self.gang.wants_place

    def placement(self) -> Placement | None:
        return self.gang.placement

    def say(self, host: str, event: str, **fields: Any) -> None:
        self.gang.on_frame(host, {"event": event, "id": "job", **fields})
        self.settle()

    def record(self, host: str, key: str, phase: str, uid: str = "", **more: Any) -> None:
        """A host reports about a pod."""
        states = {"Running": "running", "Pending": "waiting"}
        item = {"name": "main", "state": states.get(phase, "terminated"), "restarts": 0}
        if item["state"] == "terminated":
            item["exitCode"] = 0 if phase == "Succeeded" else 1
        self.pool.hosts[host].seq += 1
        fields: Json = {
            "seq": self.pool.hosts[host].seq, "time": "then", "type": "pod", "pod": key,
            "job": "trial-node-0", "slot": int(key[-1]), "uid": uid or self.uid(key), "attempt": 0,
            "phase": phase, "ready": phase == "Running", "containers": [item],
            "token": self.gang.token, **more,
        }  # fmt: skip
        self.say(host, "record", **fields)

    def log(self, host: str, file: str, offset: int, data: bytes) -> None:
        text = base64.b64encode(data).decode()
        self.say(host, "log", file=file, offset=offset, data=text)

    def host(self, name: str, state: str, token: int | None = None) -> None:
        """A host changes; `token` is what it then says of the job."""
        host = self.pool.hosts[name]
        host.state = state
        host.facts["jobs"] = {} if token is None else {"job": {"token": token, "seq": host.seq}}
        self.gang.on_host(name, state)
        self.settle()

    def ask(self, operation: str, **fields: Any) -> None:
        self.gang.handle(
            {"op": operation, **fields}, lambda answer: self.answers.append(dict(answer))
        )
        self.settle()

    def records(self, type_: str) -> list[Json]:
        lines = (self.path / "journal.jsonl").read_text().splitlines()
        return [record for line in lines if (record := json.loads(line))["type"] == type_]

    def reasons(self) -> list[str]:
        return [record["reason"] for record in self.records("event")]

    @property
    def end(self) -> Json:
        return self.records("end")[-1]

    @property
    def restarts(self) -> tuple[int, int]:
        status = self.records("status")[-1]["jobset"]
        return status["restarts"], status["restartsCountTowardsMax"]

    def run_both(self) -> None:
        self.record("a", "node-0-0", "Running")
        self.record("b", "node-0-1", "Running")


@pytest.fixture
def world(tmp_path: Path) -> GangWorld:
    return GangWorld(tmp_path)
