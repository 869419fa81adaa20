"""MPI jobs on a host, with real processes: who is let in, and what runs in the place of a pod."""

from __future__ import annotations

import base64
import os
import select
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from trainway.agent.base.testing import container, jobset, role
from trainway.agent.host.testing import HERE, PATIENCE, Client, HostJob, TestHost, host_agent

USER = b"ssh-ed25519 AAAAC3Nz me@laptop"
PUBLIC = "ecdsa-sha2-nistp521 AAAAE2Vj"
IDLE = "echo up; exec sleep 1000"
MARKED = "trainway-job-{}@" + os.uname().nodename


@pytest.fixture
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's authorized_keys, which must not be the real one."""
    path = tmp_path / "authorized_keys"
    path.write_bytes(USER)
    monkeypatch.setenv("TRAINWAY_AUTHORIZED_KEYS", str(path))
    return path


@pytest.fixture
def host(keys: Path) -> Iterator[TestHost]:
    assert keys.exists()
    with host_agent() as host:
        yield host


@pytest.fixture
def client(host: TestHost) -> Client:
    return host.connected()


def mpi_job(launcher: str = "true", worker: str = IDLE) -> HostJob:
    texts = {"ssh-privatekey": "PRIVATE", "ssh-publickey": PUBLIC}
    data = {name: base64.b64encode(text.encode()).decode() for name, text in texts.items()}
    secret = {"kind": "Secret", "metadata": {"name": "trial-ssh"}, "data": data}
    mount = {"volumeMounts": [{"name": "keys", "mountPath": "/run/secrets-of-mpi/deep"}]}
    mine = {"env": [{"name": "MINE", "value": "the worker's"}]}
    volume = {"volumes": [{"name": "keys", "secret": {"secretName": "trial-ssh"}}]}
    side = container("side", "exec sleep 1000")
    spec = jobset(
        role("launcher", container("main", launcher)),
        role("worker", side, container("main", worker, **mount, **mine), pod=volume),
    )
    return HostJob(spec, mpi={"secret": "trial-ssh"}, objects=[secret])


def start(client: Client, job: HostJob, pod: str) -> str:
    peer = {"host": "here", "address": HERE, "port": 22, "user": "me", "host_keys": []}
    peers = {"launcher-0-0": peer, "worker-0-0": peer}
    return job.start(client, pod, peers=peers, addresses=dict.fromkeys(peers, HERE))


def said(client: Client, pod: str = "launcher-0-0") -> list[bytes]:
    lines = client.log(f"{pod}.main.0.log").splitlines()
    return [line.split(b" ", 1)[1] for line in lines]


def names(keys: Path) -> list[str]:
    return [line.rsplit(" ", 1)[-1] for line in keys.read_text().splitlines()]


def test_a_job_is_let_in_from_its_arrival_to_its_end(client: Client, keys: Path) -> None:
    job = mpi_job()
    assert job.submit(client)["ok"]
    line, user = keys.read_bytes().split(b"\n")
    assert line.startswith(b'restrict,command="exec ')
    assert line.endswith(f" {PUBLIC} {MARKED.format(job.id)}".encode())
    assert f"host join {client.frames[0]['home']} {job.id}".encode() in line
    assert user == USER
    client.send("remove", id=job.id)
    client.event("removed", id=job.id)
    assert keys.read_bytes() == USER


def test_a_job_without_mpi_lets_nobody_in(client: Client, keys: Path) -> None:
    job = HostJob(jobset(role("node", container("main", "true"))))
    assert job.submit(client)["ok"]
    assert keys.read_bytes() == USER


def test_keys_that_cannot_be_written_fail_the_job(client: Client, keys: Path) -> None:
    keys.unlink()
    keys.mkdir()
    answer = mpi_job().submit(client)
    assert not answer["ok"]
    assert answer["error"] == f"{keys} is not a file, so no key is added to it"


def test_a_new_daemon_lets_in_only_jobs_that_it_has(host: TestHost, keys: Path) -> None:
    jobs = [mpi_job(), mpi_job()]
    client = host.connected()
    for job in jobs:
        job.submit(client)
    host.end_daemon(signal.SIGKILL)
    assert len(names(keys)) == 3
    shutil.rmtree(host.home / "jobs" / jobs[0].id)
    host.connected()
    assert names(keys) == [MARKED.format(jobs[1].id), "me@laptop"]


def test_a_command_runs_in_the_place_of_the_worker(client: Client) -> None:
    command = "echo $MINE $TRAINWAY_ROLE $(cat /run/secrets-of-mpi/deep/ssh-privatekey) $0; exit 3"
    rsh = f"trainway-rsh -x -o A=b trial-worker-0-0.trial.default.svc '{command}'"
    job = mpi_job(f"{rsh}; echo code $?")
    job.submit(client)
    start(client, job, "worker-0-0")
    client.pod("Running", pod="worker-0-0")
    start(client, job, "launcher-0-0")
    client.pod("Succeeded", pod="launcher-0-0")
    assert said(client) == [b"o the worker's worker PRIVATE /bin/sh", b"o code 3"]


def test_a_command_waits_for_a_worker_that_is_late(client: Client) -> None:
    job = mpi_job("echo up; trainway-rsh trial-worker-0-0 echo there; echo code $?")
    job.submit(client)
    start(client, job, "launcher-0-0")
    client.event("log", file="launcher-0-0.main.0.log")
    start(client, job, "worker-0-0")
    client.pod("Succeeded", pod="launcher-0-0")
    assert said(client) == [b"o up", b"o there", b"o code 0"]


GUEST = 'echo guest; trap "" TERM; sleep 1000 & setsid sleep 1000 & wait'


@pytest.mark.parametrize("how", ["delete", "kill"])
def test_a_command_ends_with_its_worker(client: Client, how: str) -> None:
    job = mpi_job(f"trainway-rsh trial-worker-0-0 '{GUEST}'; echo code $?")
    job.submit(client)
    worker = start(client, job, "worker-0-0")
    start(client, job, "launcher-0-0")
    client.event("log", file="launcher-0-0.main.0.log")
    client.send("stop", id=job.id, uid=worker, how=how)
    client.pod("Failed", uid=worker)
    client.pod("Succeeded", pod="launcher-0-0")
    assert said(client) == [b"o guest", b"o code 137"]
    assert job.processes() == []


def test_a_command_ends_with_its_launcher(client: Client) -> None:
    """The worker goes on; what ran in its place for the launcher does not."""
    job = mpi_job(f"trainway-rsh trial-worker-0-0 'echo $$$$; {GUEST}'")
    job.submit(client)
    start(client, job, "worker-0-0")
    launcher = start(client, job, "launcher-0-0")
    client.until(lambda _frame: len(said(client)) == 2)
    guest = int(said(client)[0].split()[1])
    handle = os.pidfd_open(guest)
    client.send("stop", id=job.id, uid=launcher, how="kill")
    client.pod("Failed", uid=launcher)
    assert _ends(handle), "the command still runs"
    os.close(handle)
    client.send("echo", id=job.id)
    client.event("echo", id=job.id)
    last = [frame for frame in client.frames if frame.get("pod") == "worker-0-0"][-1]
    assert last["phase"] == "Running"


def _ends(handle: int) -> bool:
    return bool(select.select([handle], [], [], PATIENCE)[0])
