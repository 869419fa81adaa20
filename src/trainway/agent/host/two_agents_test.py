"""Two host agents of one machine, as two users have them: they give away what there is once."""

import fcntl
import json
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest

from trainway.agent.base.launch import host_command
from trainway.agent.base.testing import container, jobset, role
from trainway.agent.host.shared_holdings import LOCK
from trainway.agent.host.testing import PATIENCE, Client, HostJob, TestHost, host_agent
from trainway.agent.kubelet import process_tree
from trainway.json_types import Json

LIMITS: Final = {"cpus": 4000, "memory": 1 << 30}
GPU: Final = {"0": 1000}


class User:
    """Somebody with an agent and a client."""

    def __init__(self, name: str, host: TestHost, shared: Path) -> None:
        self.host = host
        argv = host_command(str(host.home), "--idle", "30", "--shared", str(shared))
        self.client: Client = host.client(owner=name, argv=argv)
        self.facts = self.client.hello(client=f"{name}@laptop")

    def hold(self, key: str, **amounts: Any) -> Json:
        """Ask for a place; the answer."""
        about = {"id": key, "name": f"job {key}", "cpus": 0, "memory": 0, "gpus": {}}
        self.client.send("hold", **{**about, "limits": LIMITS, **amounts})
        return self.client.event("held", id=key)

    def send_at_once(self, frames: list[Json]) -> None:
        """Ask for several things, with no time between them."""
        stream = self.client.process.stdin
        assert stream is not None
        stream.write(b"".join(json.dumps(frame).encode() + b"\n" for frame in frames))
        stream.flush()

    def until_nobody_else_is_there(self) -> None:
        """Wait until the agent says that nothing is held through others."""
        self.client.event("holdings", others=[])


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def users(shared: Path) -> Iterator[tuple[User, User]]:
    with ExitStack() as stack:
        hosts = [stack.enter_context(host_agent()) for _ in range(2)]
        yield User("ann", hosts[0], shared), User("ben", hosts[1], shared)


def until(holds: Callable[[], bool]) -> None:
    """Wait for something that nothing announces."""
    give_up = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < give_up, "it did not happen"
        time.sleep(0.01)


def files(shared: Path) -> list[Path]:
    return list(shared.glob("*.json"))


def test_what_one_agent_gave_away_another_one_does_not_give(
    users: tuple[User, User], shared: Path
) -> None:
    ann, ben = users
    assert ann.hold("a", cpus=1000, gpus=GPU)["ok"]
    told = ben.client.until(lambda frame: frame["event"] == "holdings" and frame["others"])
    held = {"key": "a", "owner": "ann", "client": "ann@laptop", "name": "job a"}
    assert told["others"] == [{**held, "cpus": 1000, "memory": 0, "gpus": GPU}]
    refused = ben.hold("b", gpus=GPU)
    assert refused["error"] == "it is in use by ann@laptop (job a)"
    assert ben.hold("b", insist=True, gpus=GPU)["ok"]
    ben.client.send("release", id="b")

    ann.client.send("release", id="a")
    ben.until_nobody_else_is_there()
    assert ben.hold("b", gpus=GPU)["ok"]

    assert len(files(shared)) == 1
    ben.host.end_daemon(signal.SIGTERM)
    assert files(shared) == []


def told_processes(shared: Path) -> list[int]:
    """Which processes the only agent that has given something away says use it."""
    (file,) = files(shared)
    holdings = json.loads(file.read_text())["holdings"]
    return [pid for each in holdings for pid, _started in each["processes"]]


def test_a_place_is_taken_as_long_as_a_process_uses_it(
    users: tuple[User, User], shared: Path
) -> None:
    ann, ben = users
    assert ann.hold("lost", gpus={"1": 1000})["ok"]
    job = HostJob(jobset(role("node", container("main", "sleep 1000; true"))))
    assert ann.hold(job.id, gpus=GPU)["ok"]
    job.submit(ann.client)
    uid = job.start(ann.client)
    ann.client.pod("Running", uid=uid)
    ben.client.until(lambda frame: len(frame.get("others") or []) == 2)
    until(lambda: bool(set(told_processes(shared)) & set(job.processes())))

    ann.host.end_daemon(signal.SIGKILL)

    ben.client.until(lambda frame: [each["key"] for each in frame.get("others") or []] == [job.id])
    assert not ben.hold("b", gpus=GPU)["ok"]
    assert ben.hold("c", gpus={"1": 1000})["ok"]
    process_tree.signal_all(job.processes())
    ben.until_nobody_else_is_there()
    assert ben.hold("b", gpus=GPU)["ok"]


def test_an_agent_serves_its_clients_while_somebody_keeps_the_lock(
    users: tuple[User, User], shared: Path
) -> None:
    ann, ben = users
    assert ann.hold("a", cpus=1000)["ok"]
    with (shared / LOCK).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        holds: list[Json] = [
            {"op": "hold", "id": key, "cpus": 1000, "limits": LIMITS} for key in "bc"
        ]
        ben.send_at_once([*holds, {"op": "release", "id": "c"}, {"op": "ping"}])
        refused = ben.client.event("held")
        assert "pong" in [frame["event"] for frame in ben.client.frames]
        assert refused["id"] == "b"
        assert refused["error"] == f"another process keeps {shared / LOCK} locked"
        assert ann.hold("a", cpus=1000)["ok"], "it has its place"
    assert ben.hold("b", cpus=1000)["ok"]
    assert all(frame.get("id") != "c" for frame in ben.client.frames), "it was given back"
