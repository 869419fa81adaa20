"""What travels to the hosts and back, what of it twice, and what is left at the end."""

import os
import re
from pathlib import Path
from typing import Final

import pytest
from ssh_pool import ON, SshPool, until

from ssh_hosts import SshHosts

MEGABYTE: Final = 1_000_000
SIZE: Final = 6 * MEGABYTE

pytestmark = pytest.mark.xdist_group("ssh")


def test_a_workdir_travels_once_and_then_only_what_changed(
    ssh_pool: SshPool, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "data").write_bytes(os.urandom(SIZE))
    (project / "hello.sh").write_text("echo first; wc -c < data\n")
    task = tmp_path / "bring.yaml"
    task.write_text(f"workdir: {project}\nnum_nodes: 2\nrun: sh hello.sh\n")

    def run() -> tuple[str, int]:
        before = sent(ssh_pool.hosts)
        printed = ssh_pool.run("run", str(task), "--on", ON)
        return printed, sent(ssh_pool.hosts) - before

    first, first_bytes = run()
    again, again_bytes = run()
    (project / "hello.sh").write_text("echo second; wc -c < data\n")
    changed, changed_bytes = run()

    assert sorted(first.splitlines()) == lines("first") == sorted(again.splitlines())
    assert sorted(changed.splitlines()) == lines("second")
    assert first_bytes > 2 * SIZE
    assert again_bytes < MEGABYTE
    assert changed_bytes < MEGABYTE


def test_outputs_come_back_and_nothing_is_left_on_the_hosts(ssh_pool: SshPool) -> None:
    before = [host.authorized_keys.read_text() for host in ssh_pool.hosts.hosts]
    write = 'uname -n > "$TRAINWAY_OUTPUT_DIR/rank-$JOB_COMPLETION_INDEX"'
    printed = ssh_pool.run(
        "run", "--on", ON, "--nodes", "4", "--", "sh", "-c", f"{write}; uname -n"
    )
    (job,) = ssh_pool.json("jobs", "list", "--all")["items"]
    job_id = job["metadata"]["id"]

    output = Path(ssh_pool.job(job_id)["status"]["outputDir"])
    written = {path.name: path.read_text().strip() for path in output.iterdir()}
    said = dict(re.findall(r"node-(\d) \| (h\d)", printed))
    assert written == {f"rank-{rank}": host for rank, host in said.items()}
    assert sorted(written.values()) == ["h0", "h1", "h2", "h3"]

    ssh_pool.run("jobs", "delete", job_id)
    until(lambda: ssh_pool.left_on_hosts(job_id) == [], "something is left")
    assert [host.authorized_keys.read_text() for host in ssh_pool.hosts.hosts] == before
    assert not (ssh_pool.home / "jobs" / job_id).exists()


def test_a_job_that_is_deleted_while_it_runs_leaves_nothing(ssh_pool: SshPool) -> None:
    job = ssh_pool.submit_here("--nodes", "4", "--", "sleep", "1000")
    until(lambda: len(sleeping(ssh_pool, job)) == 4, "it does not run")

    ssh_pool.run("jobs", "delete", job)

    assert sleeping(ssh_pool, job) == []
    until(lambda: ssh_pool.left_on_hosts(job) == [], "something is left")


def sent(hosts: SshHosts) -> int:
    """How many bytes this machine sent to the hosts so far."""
    return int(Path(f"/sys/class/net/{hosts.interface}/statistics/tx_bytes").read_text())


def lines(word: str) -> list[str]:
    return sorted(f"node-{node} | {text}" for node in range(2) for text in (word, str(SIZE)))


def sleeping(pool: SshPool, job: str) -> list[int]:
    found = [each for host in pool.hosts.hosts for each in host.processes()]
    return [each.pid for each in found if each.job == job and each.words[0] == "sleep"]
