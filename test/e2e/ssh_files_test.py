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


def test_the_trials_of_a_sweep_have_their_parameters(ssh_pool: SshPool, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import os, sys\n"
        "print(*sys.argv[1:], os.environ['TRAINWAY_PARAM_LR'])\n"
        "sys.exit(sys.argv[2] == '1e-3')\n"
    )
    words = ("--name", "rates", "--grid", "lr=0.10,1e-3,1", "--parallel", "2")
    ssh_pool.run("run", str(script), "--on", ON, *words, code=4)
    run = ssh_pool.json("runs", "show", "rates")
    assert run["status"]["phases"] == {"Succeeded": 2, "Failed": 1}
    written = ssh_pool.run("runs", "logs", "-f", "rates").splitlines()
    assert sorted(written) == [
        "rates-0 node-0 | --lr 0.10 0.10",
        "rates-1 node-0 | --lr 1e-3 1e-3",
        "rates-2 node-0 | --lr 1 1",
    ]


def test_each_of_several_jobs_has_its_rank_and_the_files(ssh_pool: SshPool, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "data").write_bytes(os.urandom(SIZE))
    program = project / "program"
    program.write_text(
        "#!/bin/sh\necho rank $TRAINWAY_JOB_RANK of $SKYPILOT_NUM_JOBS\nwc -c < data\n"
    )
    program.chmod(0o755)
    task = tmp_path / "many.yaml"
    fails = "[ $TRAINWAY_JOB_RANK != 2 ] || exit 7"
    task.write_text(f"workdir: {project}\nrun: |\n  ./program || exit 3\n  {fails}\n")

    ssh_pool.run("run", str(task), "--on", ON, "--num-jobs", "3", code=4)

    jobs = ssh_pool.json("jobs", "list", "--all")["items"]
    ids = {job["metadata"]["name"]: job["metadata"]["id"] for job in jobs}
    assert sorted(ids) == ["many-0", "many-1", "many-2"]
    ended = {name: ssh_pool.job(id_)["status"] for name, id_ in ids.items()}
    assert {name: (status["phase"], status["exitCode"]) for name, status in ended.items()} == {
        "many-0": ("Succeeded", 0),
        "many-1": ("Succeeded", 0),
        "many-2": ("Failed", 7),
    }
    for rank in range(3):
        said = ssh_pool.run("jobs", "logs", ids[f"many-{rank}"])
        assert said.splitlines() == [f"node-0 | rank {rank} of 3", f"node-0 | {SIZE}"]
    kept = [ssh_pool.home / "jobs" / id_ / "blobs" for id_ in ids.values()]
    until(lambda: not any(any(each.iterdir()) for each in kept), "a job that is over keeps files")


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
    until(lambda: not (ssh_pool.home / "jobs" / job_id).exists(), "its folder is left here")


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
