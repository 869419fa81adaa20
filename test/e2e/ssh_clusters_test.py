"""Clusters on SSH hosts: a part of a pool that is held, with a queue of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from gate import Gate
from host_gate import process_of
from installation import is_alive, kill
from ssh_pool import CPUS, ON, SshPool, until

pytestmark = pytest.mark.xdist_group("ssh")

WHOLE_HOST = ["--cpus", str(CPUS)]


@pytest.fixture
def clusters(ssh_pool: SshPool) -> Iterator[SshPool]:
    yield ssh_pool
    ssh_pool.run("down", "--all", "--yes")


def test_a_task_of_two_nodes_travels_to_its_cluster(clusters: SshPool, tmp_path: Path) -> None:
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "word.txt").write_text("travelled\n")
    task = tmp_path / "task.yaml"
    task.write_text(
        f"workdir: {folder}\nnum_nodes: 2\nresources: {{infra: {ON}, cpus: {CPUS}}}\n"
        "setup: echo setup; echo $PWD >made.txt\n"
        "run: echo $(cat word.txt) to $(uname -n) $SKYPILOT_NODE_RANK\n"
    )
    said = clusters.run("launch", "-y", "-c", "pair", str(task))
    words = [line.partition("| ")[2].split() for line in said.splitlines()]
    came = [line for line in words if line[0] == "travelled"]
    assert len({line[2] for line in came}) == 2, "two hosts"
    assert sorted(line[3] for line in came) == ["0", "1"]
    (folder / "word.txt").write_text("changed\n")
    said = clusters.run("exec", "pair", str(task))
    assert said.count("changed to") == 2
    assert "setup" not in said
    said = clusters.run("exec", "pair", "--", "sh", "-c", "cat made.txt ~/sky_workdir/word.txt")
    assert "changed" in said
    assert "/sky_workdir\n" in said, "exec runs where setup ran"
    (cluster,) = clusters.json("status")["items"]
    assert cluster["spec"]["infra"] == ON
    held = {node["host"] for node in cluster["status"]["nodes"]}
    assert held == {line[2] for line in came}
    assert clusters.run("ssh", "pair", "uname", "-n").strip() in held
    clusters.run("stop", "pair", "-y", code=1)
    clusters.run("autostop", "pair", "-i", "5", code=1)
    clusters.run("autostop", "pair", "-i", "5", "--down")
    clusters.run("down", "pair", "-y")
    places = [host.home / "sky_workdir" for host in clusters.hosts.hosts]
    until(lambda: not any(place.is_symlink() for place in places), "the folder is left")


def test_what_a_cluster_holds_no_other_job_gets(clusters: SshPool, gate: Gate) -> None:
    launch = ["launch", "-y", "-d", "-c", "most", "--infra", ON, "--num-nodes", "3", *WHOLE_HOST]
    clusters.run(*launch, "--", *gate.command("held"))
    visitors = [gate.next() for _ in range(3)]
    wide = clusters.submit_here("--nodes", "2", *WHOLE_HOST, "--", *gate.command("wide"))
    until(lambda: clusters.phase(wide) == "Queued", "it does not wait")
    single = ["exec", "-d", "most", *WHOLE_HOST, "--"]
    for name in ("a", "b", "c"):
        clusters.run(*single, *gate.command(name))
    for visitor in visitors:
        visitor.let_go()
    queued = [gate.next() for _ in range(3)]
    assert sorted(visitor.name for visitor in queued) == ["a", "b", "c"]
    assert clusters.phase(wide) == "Queued"
    processes = [process_of(visitor) for visitor in queued]
    clusters.run("down", "most", "-y")
    assert not any(is_alive(process.pid) for process in processes)
    for visitor in (gate.next(), gate.next()):
        assert visitor.name == "wide"
        visitor.let_go()
    clusters.run("jobs", "wait", wide)


def test_what_can_never_be_had_is_refused_with_the_numbers(clusters: SshPool) -> None:
    launch = ["launch", "-y", "-c", "big", "--infra", ON]
    clusters.run(*launch, "--cpus", "64", "true", code=1)
    clusters.run(*launch, "--num-nodes", "5", *WHOLE_HOST, "true", code=1)
    clusters.run(*launch, "-i", "5", "true", code=1)
    assert clusters.json("status")["items"] == []


def test_an_idle_cluster_gives_its_hosts_back_without_a_server(
    clusters: SshPool, gate: Gate
) -> None:
    launch = ["launch", "-y", "-d", "-c", "brief", "--infra", ON, "--num-nodes", "4", *WHOLE_HOST]
    clusters.run(*launch, "-i", "0", "--down", "--", *gate.command("job"))
    visitors = [gate.next() for _ in range(4)]
    waiting = clusters.submit_here(*WHOLE_HOST, "--", *gate.command("next"))
    until(lambda: clusters.phase(waiting) == "Queued", "it does not wait")
    kill(clusters.server_pid())
    for visitor in visitors:
        visitor.let_go()
    gate.next().let_go()
    until(lambda: clusters.json("status")["items"] == [], "it is still there")
    clusters.run("jobs", "wait", waiting)
