"""MPI over hosts: mpirun reaches its workers with a key that only this job has, and only then."""

from pathlib import Path
from typing import Final

import pytest
import yaml
from environments import require_mpirun
from gate import Gate, Visitor
from host_gate import process_of
from host_processes import namespace_of
from installation import is_alive
from patience import until
from ssh_pool import SshPool, host_agent, host_agents

from ssh_hosts import Host

WORKERS: Final = 7
"""With the launcher there are two pods on each host, so that one worker is beside the launcher."""
REQUEST: Final = {"resources": {"requests": {"cpu": "1"}}}

pytestmark = pytest.mark.xdist_group("ssh")


@pytest.fixture(autouse=True)
def _mpirun() -> None:
    require_mpirun()


@pytest.fixture
def manifest(gate: Gate, tmp_path: Path) -> Path:
    """An MPIJob whose ranks report at the gate."""
    variables = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
    launcher = {
        "name": "launcher",
        "image": "mpi",
        **REQUEST,
        "command": ["mpirun", *gate.command("rank")],
        "env": [{"name": name, "value": "1"} for name in variables],
    }
    mine = {"name": "MINE", "value": "the worker's"}
    worker = {"name": "worker", "image": "mpi", **REQUEST, "env": [mine]}
    spec = {
        "mpiReplicaSpecs": {
            "Launcher": {
                "restartPolicy": "Never",
                "template": {"spec": {"containers": [launcher]}},
            },
            "Worker": {"replicas": WORKERS, "template": {"spec": {"containers": [worker]}}},
        },
    }
    path = tmp_path / "mpi.yaml"
    head = {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": "ranks"}}
    path.write_text(yaml.safe_dump({**head, "spec": spec}))
    return path


def test_ranks_run_in_the_place_of_their_workers(
    ssh_pool: SshPool, gate: Gate, manifest: Path
) -> None:
    before = keys(ssh_pool)
    job = ssh_pool.submit_here(str(manifest))
    ranks = all_ranks(gate)
    hosts = ssh_pool.hosts_of(job)

    assert len(set(hosts.values())) == len({host_of(rank) for rank in ranks}) == 4
    assert {(rank.env["TRAINWAY_ROLE"], rank.env["MINE"]) for rank in ranks} == {
        ("worker", "the worker's")
    }
    assert sorted(rank.env["TRAINWAY_RANK"] for rank in ranks) == list("0123456")
    added = [now.removesuffix(then) for now, then in zip(keys(ssh_pool), before, strict=True)]
    assert all(line.startswith("restrict,command=") for line in added)
    assert all(line.count("\n") == 1 and f"trainway-job-{job}@" in line for line in added)
    here, there, *_ = dict.fromkeys(hosts.values())
    assert_key_joins_only(here, there, job)

    let_go(ranks)
    ssh_pool.run("jobs", "wait", job)
    assert ssh_pool.phase(job) == "Succeeded"
    until(lambda: keys(ssh_pool) == before, "a key is left")


def test_a_cancelled_job_leaves_no_key(ssh_pool: SshPool, gate: Gate, manifest: Path) -> None:
    before = keys(ssh_pool)
    job = ssh_pool.submit_here(str(manifest))
    ranks = [process_of(rank) for rank in all_ranks(gate)]

    ssh_pool.run("jobs", "cancel", job)

    until(lambda: not any(is_alive(rank.pid) for rank in ranks), "a rank still runs")
    until(lambda: keys(ssh_pool) == before, "a key is left")


def test_a_killed_host_agent_of_the_launcher_leaves_no_key(
    ssh_pool: SshPool, gate: Gate, manifest: Path
) -> None:
    before = keys(ssh_pool)
    job = ssh_pool.submit_here(str(manifest))
    first = [process_of(rank) for rank in all_ranks(gate)]
    host = ssh_pool.hosts_of(job)["launcher-0-0"]

    host_agent(host).kill()
    second = all_ranks(gate)

    assert not any(is_alive(rank.pid) for rank in first)
    assert len(host_agents(host)) == 1
    let_go(second)
    ssh_pool.run("jobs", "wait", job)
    assert ssh_pool.phase(job) == "Succeeded"
    until(lambda: keys(ssh_pool) == before, "a key is left")


def keys(pool: SshPool) -> list[str]:
    return [host.authorized_keys.read_text() for host in pool.hosts.hosts]


def all_ranks(gate: Gate) -> list[Visitor]:
    return [gate.next() for _ in range(WORKERS)]


def host_of(rank: Visitor) -> str:
    return namespace_of(process_of(rank).pid)


def let_go(ranks: list[Visitor]) -> None:
    for rank in ranks:
        rank.let_go()


def assert_key_joins_only(here: Host, there: Host, job: str) -> None:
    """Whoever has the job's key can run a command in its pods, and nothing else."""
    (key,) = here.home.rglob(f"{job}/mpi/key")
    options = "-o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
    login = f"ssh -F none -i {key} {options} {there.address}"
    said = here.run("sh", "-c", f"{login} id 2>&1; {login} -T </dev/null 2>&1; echo $?")
    assert said.count(f"this key is for the pods of job {job} alone") == 2, said
    assert said.endswith("255\n")
    assert "uid=" not in said
