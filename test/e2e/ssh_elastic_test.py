"""An elastic torch job on SSH hosts: a cable is pulled, it goes on with three, and comes back."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from elastic_log import next_size
from environments import REPOSITORY, TORCH, environment
from gate import Gate
from ssh_pool import CPUS, SshPool, pool_of

from ssh_hosts import SshHosts

pytestmark = pytest.mark.xdist_group("ssh")


@pytest.fixture
def torch(ssh_hosts: SshHosts, tmp_path: Path) -> Iterator[SshPool]:
    imports = os.pathsep.join(str(REPOSITORY / name) for name in ("examples", "test/e2e"))
    variables = environment(*TORCH).variables()
    with pool_of(ssh_hosts, tmp_path / "torch", variables, {"PYTHONPATH": imports}) as pool:
        yield pool


def submitted(torch: SshPool, folder: Path) -> str:
    """A job of two to four nodes, each of which needs a host to itself."""
    folder.mkdir()
    words = ["--nodes", "2:4", "--cpus", str(CPUS), "--procs-per-node", "1"]
    program = ["test/e2e/paced_elastic.py", "--", str(folder), "--pause", "0.05"]
    program += ["--timeout", "20"]  # how long processes wait for one that was cut off
    return torch.submit_here(*words, "--env", "OMP_NUM_THREADS=1", *program)


def sizes(torch: SshPool, job: str) -> list[str]:
    events = torch.json("jobs", "events", job)["items"]
    return [event["message"] for event in events if event["reason"] == "NodesChanged"]


def test_training_starts_with_what_fits_and_grows(
    torch: SshPool, gate: Gate, tmp_path: Path
) -> None:
    other = torch.submit_here("--cpus", str(CPUS), "--", *gate.command())
    visitor = gate.next()
    folder = tmp_path / "folder"
    job = submitted(torch, folder)
    with torch.follow_logs(job) as log:
        fewer = next_size(log, 3)
        assert "node-0-3" not in torch.hosts_of(job)
        visitor.let_go()
        torch.run("jobs", "wait", other)
        more = next_size(log, 4)
        (folder / "finish").touch()
    torch.run("jobs", "wait", job)

    assert fewer < more
    assert torch.job(job)["status"]["restarts"] == 0
    assert sizes(torch, job) == ["runs with 3 of 4 nodes", "runs with 4 of 4 nodes"]


def test_training_goes_on_without_a_host_and_takes_it_back(torch: SshPool, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    job = submitted(torch, folder)
    with torch.follow_logs(job) as log:
        first = next_size(log, 4)
        lost = torch.hosts_of(job)["node-0-3"]
        torch.hosts.cut(lost)
        fewer = next_size(log, 3)
        assert lost not in torch.hosts_of(job).values()
        torch.hosts.heal(lost)
        again = next_size(log, 4)
        assert torch.hosts_of(job)["node-0-3"] == lost
        (folder / "finish").touch()
        assert log.stdout is not None
        rest = log.stdout.read()
    torch.run("jobs", "wait", job)

    assert first < fewer < again
    assert re.search(r"done after \d+ steps with 4 nodes", rest)
    status = torch.job(job)["status"]
    assert (status["phase"], status["restarts"]) == ("Succeeded", 0)
    assert sizes(torch, job) == [f"runs with {nodes} of 4 nodes" for nodes in (4, 3, 4)]
