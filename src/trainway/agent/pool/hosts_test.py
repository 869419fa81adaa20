"""The hosts of a pool, with stand-ins that can be made mute, and a clock of our own."""

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from trainway.agent.base.event_loop import EventLoop
from trainway.agent.pool import hosts as hosts_module
from trainway.agent.pool.hosts import Host, Hosts, HostsListener
from trainway.agent.pool.lease import HostLease
from trainway.agent.transfer import link as link_module
from trainway.agent.transfer.link import Archive, Link
from trainway.agent.transfer.ssh_failure import Failure
from trainway.json_types import Json

PATIENCE = 60.0
STAND_IN = """
import json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
(folder / "connections").open("a").write("x")
for line in sys.stdin:
    frame = json.loads(line)
    (folder / "heard").open("a").write(line)
    if (folder / "mute").exists():
        continue
    if frame["op"] == "hello":
        facts = json.loads((folder / "facts").read_text())
        answer = {"event": "facts", "cpus": 2, "memory": 100, "gpus": [], "jobs": {}, **facts}
    elif frame["op"] == "ping":
        answer = {"event": "pong"}
    elif frame["op"] == "watch_notices":
        answer = {"event": "notice", "at": "2026-11-18T08:22:00Z", "why": "x" * 999}
    else:
        answer = {"event": "echo", "id": frame["id"]}
    print(json.dumps(answer), flush=True)
"""


class RecordingLink(Link):
    """A connection that keeps what was said on it, whether or not it was heard yet."""

    said: list[Json]

    def send(self, frame: Mapping[str, object]) -> bool:
        is_said = super().send(frame)
        if is_said:
            self.said.append(dict(frame))
        return is_said


class StandIns(Hosts):
    """Hosts as if reached by SSH, of which our stand-ins know nothing."""

    commands: dict[str, list[str]]

    def link_of(self, settings: Json, host: Host) -> Link:
        settings = {**settings, "command": self.commands[settings["name"]]}
        link = RecordingLink(settings, self._loop, self._archive, host, self._env)
        link.said = []
        return link


class Trial(HostsListener):
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.script = folder / "stand_in.py"
        self.script.write_text(STAND_IN)
        self.loop = EventLoop()
        self.time = 1000.0
        self.seen: list[tuple[str, str]] = []
        self.frames: list[Json] = []
        self.lines: list[str] = []
        self.capacities: list[str] = []
        self.notices: list[str] = []
        self.hosts = StandIns(
            self.loop,
            self,
            "me",
            lambda: Archive("", ""),
            dict,
            now=lambda: self.time,
            log=self.lines.append,
        )
        self.hosts.commands = {}

    def on_host(self, host: Host, state: str) -> None:
        self.seen.append((host.name, state))

    def on_job_frame(self, host: Host, frame: Json) -> None:
        self.frames.append({**frame, "from": host.name})

    def on_notice(self, host: Host) -> None:
        self.notices.append(host.name)

    def on_capacity(self, host: Host) -> None:
        self.capacities.append(host.name)

    def host(self, name: str, facts: Json | None = None, **settings: Any) -> Json:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        (folder / "facts").write_text(json.dumps(facts or {}))
        command = [sys.executable, "-I", "-S", str(self.script), str(folder)]
        self.hosts.commands[name] = command
        return {"name": name, "command": command, **settings}

    def mute(self, name: str) -> None:
        """Let it answer no more; of one that does, wait until its last answer has come."""
        (self.folder / name / "mute").touch()
        if self.hosts.get(name) is None:
            return
        heard = len(self.heard(name, "ping"))
        self.time += 1  # the next ping is due
        self.until(lambda: len(self.heard(name, "ping")) > heard)
        self.loop.turn()

    def unmute(self, name: str) -> None:
        (self.folder / name / "mute").unlink()

    def heard(self, name: str, operation: str) -> list[Json]:
        lines = (self.folder / name / "heard").read_text().splitlines()
        return [frame for frame in map(json.loads, lines) if frame["op"] == operation]

    def connections(self, name: str) -> int:
        return len((self.folder / name / "connections").read_text())

    def until(self, wanted: Callable[[], object]) -> None:
        give_up = time.monotonic() + PATIENCE
        while not wanted():
            assert time.monotonic() < give_up, (self.seen, self.lines)
            self.loop.turn()

    def pass_time(self, seconds: int) -> None:
        """Let so many seconds pass; in each the leases are looked at, and all that can answer do.

        The hosts' own seconds do not count: a stand-in that was slow hears many pings at once.
        """
        for _ in range(seconds):
            self.time += 1
            self.until_checked()
            self.until(lambda: all(lease.heard_at == self.time for lease in self.answering()))

    def until_checked(self) -> None:
        """Wait until the leases were looked at, at this time of ours."""
        at = self.time
        self.until(lambda: self.hosts._leases._checked_at >= at)

    def answering(self) -> list[HostLease]:
        """What is known of all hosts that are not mute."""
        able = [host for host in self.hosts.all() if host.is_usable]
        return [host._lease for host in able if not (self.folder / host.name / "mute").exists()]


@pytest.fixture
def trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Trial]:
    monkeypatch.setattr(hosts_module, "TICK_SECONDS", 0.02)
    monkeypatch.setattr(link_module, "RETRY_SECONDS", 0.02)
    trial = Trial(tmp_path)
    yield trial
    trial.hosts.close()


def test_all_hosts_hear_of_each_other(trial: Trial) -> None:
    found: Json = {"addresses": ["10.0.0.2", "192.168.0.2"], "sshd": ["192.168.0.2", 2222]}
    a = trial.host("a", address="10.0.0.1", port=22, command=None)
    b = trial.host("b", found, address="b.lab", command=None)
    here = trial.host("here", address="127.0.0.1")
    trial.hosts.configure([a, b, here], ())
    trial.until(lambda: {("a", "up"), ("b", "up"), ("here", "up")} <= set(trial.seen))
    trial.until(lambda: trial.heard("a", "hello")[-1]["peers"] == [["192.168.0.2", 2222]])
    assert trial.heard("a", "hello")[-1] == {
        "op": "hello",
        "owner": "me",
        "client": "",
        "peers": [["192.168.0.2", 2222]],
        "votes": 4,
    }
    assert trial.heard("b", "hello")[-1]["peers"] == [["10.0.0.1", 22]]
    assert sorted(trial.capacities) == ["a", "b", "here"]
    assert trial.hosts.usable() == ["a", "b", "here"]


def test_a_spot_machine_is_told_whom_to_ask_and_says_that_it_is_taken(trial: Trial) -> None:
    asks = {"cloud": "aws", "machine": "i-1", "address": ""}
    spot, other = trial.host("spot", notices=asks), trial.host("other")
    trial.hosts.configure([spot, other], ())
    trial.until(lambda: trial.notices == ["spot"] and len(trial.seen) == 2)
    beside = trial.hosts.get("other")
    start: Any = {"op": "start", "id": "j"}
    assert beside is not None
    assert beside.send(start)
    trial.until(lambda: trial.frames)  # so it has heard all that came before
    assert trial.heard("spot", "watch_notices") == [{"op": "watch_notices", **asks}]
    assert trial.heard("other", "watch_notices") == []
    host = trial.hosts.get("spot")
    assert host is not None
    assert host.notice == {"at": "2026-11-18T08:22:00Z", "why": "x" * 200}
    host.link.drop()  # the next connection asks again
    trial.until(lambda: len(trial.notices) == 2)


def test_silent_then_lost_then_back(trial: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    trial.hosts.configure([trial.host(name) for name in "abc"], ())
    trial.until(lambda: len(trial.seen) == 3)
    host = trial.hosts.get("a")
    assert host is not None
    start: Any = {"op": "start", "id": "j"}
    assert host.send(start)
    trial.until(lambda: trial.frames)
    assert trial.frames == [{"event": "echo", "id": "j", "from": "a"}]
    trial.seen.clear()
    trial.pass_time(2)
    monkeypatch.setattr(link_module, "CONNECT_SECONDS", 1.0)
    trial.mute("a")
    trial.pass_time(4)
    assert trial.seen == [("a", "silent")]
    assert trial.hosts.usable() == ["b", "c"]
    assert not host.send(start)
    said = pings(host)
    trial.pass_time(12)
    assert trial.seen == [("a", "silent"), ("a", "lost")]
    assert pings(host) == said, "nothing is said to a silent host"
    trial.unmute("a")
    trial.until(lambda: ("a", "up") in trial.seen)
    assert trial.seen == [("a", "silent"), ("a", "lost"), ("a", "back"), ("a", "up")]
    assert trial.connections("a") >= 2


def pings(host: Host) -> int:
    """How often it was asked whether it is there."""
    assert isinstance(host.link, RecordingLink)
    return sum(frame["op"] == "ping" for frame in host.link.said)


def test_the_only_host_is_connected_anew_when_it_is_silent(
    trial: Trial, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial.hosts.configure([trial.host("a")], ())
    trial.until(lambda: ("a", "up") in trial.seen)
    monkeypatch.setattr(link_module, "CONNECT_SECONDS", 1.0)
    trial.mute("a")
    trial.time += 1
    for _ in range(10):
        trial.time += 1
        trial.until_checked()
    assert ("a", "lost") not in trial.seen
    trial.until(lambda: trial.connections("a") >= 2)
    trial.unmute("a")
    trial.until(lambda: trial.seen.count(("a", "up")) == 2)


def test_a_host_with_other_settings_is_connected_anew(trial: Trial) -> None:
    trial.hosts.configure([trial.host("a")], ())
    trial.until(lambda: ("a", "up") in trial.seen)
    trial.hosts.configure([trial.host("a", cpus=1)], ())
    trial.until(lambda: trial.seen.count(("a", "up")) == 2)
    host = trial.hosts.get("a")
    assert host is not None
    capacity = host.capacity()
    assert capacity is not None
    assert capacity.cpus == 1000


def test_a_host_stays_while_jobs_are_on_it(trial: Trial) -> None:
    trial.hosts.configure([trial.host("a"), trial.host("b")], ())
    trial.until(lambda: len(trial.seen) == 2)
    trial.hosts.configure([trial.host("b")], {"a"})
    assert [host.name for host in trial.hosts.all()] == ["b", "a"]
    assert trial.hosts.usable() == ["b"]
    assert trial.hosts.let_go(()) == ["a"]
    assert trial.hosts.get("a") is None


def test_nonsense_of_a_host_is_its_own_problem(trial: Trial) -> None:
    nonsense, good = trial.host("a", {"cpus": "many"}), trial.host("b")
    trial.hosts.configure([nonsense, good], ())
    trial.until(lambda: ("b", "up") in trial.seen and trial.lines)
    trial.until(lambda: any("facts is not understood" in line for line in trial.lines))


def test_what_is_known_of_a_failure_stays_until_more_is_known(trial: Trial) -> None:
    settings = trial.host("a", command=["sh", "-c", "echo No route to host >&2"])
    trial.hosts.commands["a"] = settings["command"]
    trial.hosts.configure([settings], ())
    host = trial.hosts.get("a")
    assert host is not None
    assert host.absence == "it has not answered yet"
    seen = [host.is_new]
    trial.until(lambda: host.failure)
    assert [*seen, host.is_new] == [True, False]
    host.on_down(Failure("it does not answer", vague=True))
    assert host.absence == "there is no route to it"
    host.on_down(Failure("it burns"))
    assert host.absence == "it burns"
    assert trial.lines[-1] == "a: it burns"


def test_nobody_waits_for_ever_for_the_first_word_of_a_host(trial: Trial) -> None:
    settings = trial.host("a")
    trial.mute("a")
    trial.hosts.configure([settings], ())
    host = trial.hosts.get("a")
    assert host is not None
    seen = []
    for step in (9.5, 0.5):
        trial.time += step
        seen.append(host.is_new)
    assert seen == [True, False]
