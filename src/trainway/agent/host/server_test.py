"""The daemon's life: connections that break, a daemon that dies, another version that comes."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from trainway.agent.base.launch import digest, write_zip
from trainway.agent.base.testing import container, jobset, role
from trainway.agent.host.testing import Client, HostJob, TestHost, host_agent
from trainway.json_types import Json

COUNT = "i=0; while [ $i -lt {} ]; do echo line $i; i=$((i+1)); done; "


@pytest.fixture
def host() -> Iterator[TestHost]:
    with host_agent() as host:
        yield host


def one(script: str, **plan: Any) -> HostJob:
    return HostJob(jobset(role("node", container("main", script))), **plan)


def position(client: Client, job: HostJob) -> Json:
    """What a receiver has, as it says after a reconnection."""
    logs: dict[str, int] = {}
    for frame in client.frames:
        if frame["event"] == "log" and frame["id"] == job.id:
            logs[frame["file"]] = len(client.log(frame["file"], job.id))
    seen = [f["seq"] for f in client.frames if f["event"] == "record" and f["id"] == job.id]
    return {"id": job.id, "after": seen[-1] if seen else -1, "logs": logs}


def records(*clients: Client) -> list[int]:
    frames = [frame for client in clients for frame in client.frames]
    return [frame["seq"] for frame in frames if frame["event"] == "record"]


@pytest.mark.parametrize("how", ["close", "kill"])
def test_nothing_is_lost_or_doubled_when_a_connection_breaks(
    host: TestHost, tmp_path: Path, how: str
) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    first = host.connected()
    job = one(COUNT.format(3000) + f"cat {gate}; " + COUNT.format(3000))
    job.submit(first)
    uid = job.start(first)
    first.event("log")
    getattr(first, how)()
    with gate.open("w"):
        pass
    second = host.connected()
    second.send("resume", **position(first, job))
    second.pod("Succeeded", uid=uid)
    seqs = records(first, second)
    assert seqs == list(range(len(seqs)))
    second.frames[:0] = [frame for frame in first.frames if frame["event"] == "log"]
    lines = second.log("node-0-0.main.0.log").splitlines()
    wanted = [f"line {number % 3000}".encode() for number in range(6000)]
    assert [line.split(b" ", 2)[2] for line in lines] == wanted


def test_nothing_of_an_old_job_comes_before_it_is_asked_for(host: TestHost) -> None:
    first = host.connected()
    job = one("echo done")
    job.submit(first)
    job.start(first)
    first.pod("Succeeded")
    first.close()
    second = host.client()
    assert second.hello()["jobs"] == {job.id: {"token": 1, "seq": records(first)[-1]}}
    second.send("ping")
    second.event("pong")
    second.send("resume", id=job.id, after=-1, logs={})
    second.pod("Succeeded")
    assert records(second) == records(first)
    assert second.log("node-0-0.main.0.log") == first.log("node-0-0.main.0.log")


def test_a_reader_that_is_slow_holds_up_neither_answers_nor_the_job(
    host: TestHost, tmp_path: Path
) -> None:
    """Nobody reads while 10 MB are written; then all of them come."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    client = host.connected()
    job = one(f"head -c 10000000 /dev/zero | tr '\\0' x | fold -w 1000; echo end > {gate}")
    job.submit(client)
    uid = job.start(client)
    assert gate.read_text() == "end\n"
    client.send("ping")
    client.event("pong")
    seen = sum(len(frame["data"]) for frame in client.frames if frame["event"] == "log")
    assert seen < 5_000_000
    client.pod("Succeeded", uid=uid)
    text = client.log("node-0-0.main.0.log")
    assert sum(len(line.split(b" ", 2)[2]) for line in text.splitlines()) == 10_000_000


def test_a_daemon_that_was_killed_is_followed_by_one_that_tells(host: TestHost) -> None:
    first = host.connected()
    orphan = "setsid sh -c 'sleep 1000; true' & "
    job, over = one(f"{orphan}echo up; printf half; sleep 1000; true"), one("echo over")
    over.submit(first)
    over.start(first)
    first.pod("Succeeded", id=over.id)
    job.submit(first)
    uid = job.start(first)
    first.event("log", id=job.id)
    first.pod("Running", uid=uid)
    host.end_daemon(signal.SIGKILL)
    second = host.client()
    jobs = second.hello()["jobs"]
    assert set(jobs) == {job.id, over.id}
    assert job.processes() == []
    second.send("resume", **position(first, job))
    end = second.pod("Failed", uid=uid)
    assert end["reason"] == "AgentLost"
    assert end["containers"][0]["exitCode"] == 137
    again = job.start(second)
    second.pod("Running", uid=again)


def test_an_agent_leaves_alone_what_another_agent_of_the_machine_runs(host: TestHost) -> None:
    job = one("echo up; exec sleep 1000")
    with host_agent() as other:
        for agent in (host, other):
            client = agent.connected()
            job.submit(client)
            job.start(client)
            client.event("log")
        host.end_daemon(signal.SIGKILL)
        host.connected()
        assert len(job.processes()) == 1
        again = host.connected()
        again.send("remove", id=job.id)
        again.event("removed")
        assert len(job.processes()) == 1


def test_a_daemon_that_is_asked_to_go_stops_its_pods(host: TestHost) -> None:
    client = host.connected()
    job = one("trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.1; done")
    job.submit(client)
    uid = job.start(client)
    client.event("log")
    host.end_daemon(signal.SIGTERM)
    assert job.processes() == []
    second = host.connected()
    second.send("resume", id=job.id, after=-1, logs={})
    assert second.pod("Failed", uid=uid)["reason"] == "AgentLost"
    assert b"o bye\n" in second.log("node-0-0.main.0.log")


def test_an_idle_daemon_goes_by_itself(tmp_path: Path) -> None:
    host = TestHost(tmp_path / "home")
    line = [sys.executable, "-I", "-S", str(Path(__file__).parents[1])]
    argv = [*line, "host", "connect", "--home", str(host.home), "--idle", "0.1"]
    client = Client(host.home, argv=argv)
    client.hello()
    with host.going():
        client.close()
    assert not (host.home / "host.sock").exists()


def test_another_version_takes_over_only_where_nothing_runs(host: TestHost, tmp_path: Path) -> None:
    archive = tmp_path / "other.pyz"
    write_zip(archive)
    version = digest()
    argv = [sys.executable, str(archive), "host", "connect", "--home", str(host.home)]
    first = host.connected()
    job = one("echo up; exec sleep 1000")
    job.submit(first)
    uid = job.start(first)
    first.event("log")
    marker = host.home / "daemon.json"
    marker.write_text(marker.read_text().replace(digest(), "0" * 16))
    old = host.pid
    other = host.client(argv=argv, owner="other")
    other.hello()
    assert host.pid == old
    other.close()
    first.send("stop", id=job.id, uid=uid, how="kill")
    first.pod("Failed", uid=uid)
    first.close()
    third = host.client(argv=argv)
    facts = third.hello()
    assert facts["version"] == version
    assert host.pid != old
    assert set(facts["jobs"]) == {job.id}


def test_a_request_before_hello_is_refused(host: TestHost) -> None:
    client = host.client()
    client.send("resume", id="x", after=0)
    assert client.event("error")["message"] == "say hello first"
    client.send("ping")
    client.event("pong")
