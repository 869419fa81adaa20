import base64
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.host.access import JobAccess, known_hosts
from trainway.agent.host.keys import AuthorizedKeys, KeysError
from trainway.agent.kubelet.objects import Objects

KEY = "ecdsa-sha2-nistp521 AAAAE2Vj"
JOIN = ["python3", "agent.pyz", "host", "join", "/home", "job-1"]
PEERS: dict[str, Any] = {
    "launcher-0-0": {"host": "a1", "address": "10.1.0.1", "port": 22, "host_keys": []},
    "worker-0-0": {
        "host": "a2",
        "address": "10.1.0.2",
        "port": 22,
        "host_keys": ["ssh-ed25519 AAAAC3Nz", "ssh-rsa AAAAB3Nz root@a2", "*\nssh-rsa AAAA"],
    },
}


def secret(**data: str) -> Objects:
    encoded = {name: base64.b64encode(text.encode()).decode() for name, text in data.items()}
    return Objects([{"kind": "Secret", "metadata": {"name": "allreduce-ssh"}, "data": encoded}])


OBJECTS = secret(**{"ssh-privatekey": "PRIVATE\n", "ssh-publickey": f"{KEY}\n"})


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    return tmp_path / "authorized_keys"


@pytest.fixture
def job(tmp_path: Path, keys: Path) -> JobAccess:
    (tmp_path / "job").mkdir()
    directory = Directory(str(tmp_path / "job"))
    return JobAccess("job-1", "allreduce", directory, AuthorizedKeys(str(keys), "a1"))


def test_a_job_is_let_in_until_its_end(tmp_path: Path, keys: Path, job: JobAccess) -> None:
    job.open(OBJECTS, "allreduce-ssh", JOIN)
    key = tmp_path / "job" / "mpi" / "key"
    assert key.read_text() == "PRIVATE\n"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert keys.read_text() == (
        'restrict,command="exec python3 agent.pyz host join /home job-1"'
        f" {KEY} trainway-job-job-1@a1\n"
    )
    assert "PRIVATE" not in keys.read_text()
    job.close()
    assert keys.read_text() == ""


@pytest.mark.parametrize("objects", [Objects([]), secret(**{"ssh-publickey": KEY})])
def test_a_job_without_a_key_of_its_own(keys: Path, job: JobAccess, objects: Objects) -> None:
    with pytest.raises(KeysError, match='the Secret "allreduce-ssh" holds no SSH key'):
        job.open(objects, "allreduce-ssh", JOIN)
    assert not keys.exists()


def test_pods_are_known_by_their_hosts(tmp_path: Path, job: JobAccess) -> None:
    job.set_peers(PEERS, "launcher-0-0")
    folder = tmp_path / "job" / "mpi"
    found = json.loads((folder / "peers.json").read_text())
    assert found == {"jobset": "allreduce", "here": "a1", "pods": PEERS}
    assert (folder / "known_hosts").read_text() == known_hosts(PEERS)


def test_what_is_no_key_of_a_host_is_left_out() -> None:
    assert known_hosts(PEERS) == (
        "trainway-worker-0-0 ssh-ed25519 AAAAC3Nz\ntrainway-worker-0-0 ssh-rsa AAAAB3Nz\n"
    )
