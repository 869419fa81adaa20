"""Clusters on Slurm: an allocation that is held, with a queue of its own."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gate import Gate
from host_gate import process_of
from installation import TIMEOUT_S, kill
from slurm_site import ON, SlurmSite, until

from trainway.errors import UnavailableError
from trainway.sdk.address import Home
from trainway.sdk.cluster_rest import ClusterRest
from trainway.sdk.transport import Transport

pytestmark = pytest.mark.xdist_group("slurm")

TASK = """
workdir: {folder}
num_nodes: 2
resources: {{infra: {on}, cpus: 2, memory: 1, accelerators: "GPU:1"}}
config: {{slurm: {{sbatch_options: {{time: 30}}}}}}
setup: echo setup
run: echo $(cat word.txt) $SKYPILOT_NODE_RANK to $SLURMD_NODENAME with $CUDA_VISIBLE_DEVICES.
"""


@pytest.fixture
def site(slurm_site: SlurmSite) -> Iterator[SlurmSite]:
    yield slurm_site
    slurm_site.run("down", "--all", "--yes")
    slurm_site.slurm.wait_until_empty()
    until(lambda: list((slurm_site.shared / "jobs").iterdir()) == [], "the folder of a job is left")


def clusters(site: SlurmSite) -> list[dict[str, Any]]:
    """As `status` has them; the server is asked, since a process for each look takes its time."""
    home = Home(site.home)
    try:
        return ClusterRest(Transport(home.address(home.server_info()))).clusters()
    except UnavailableError:
        return list(site.json("status")["items"])


def cluster(site: SlurmSite) -> dict[str, Any]:
    (found,) = clusters(site)
    return found


def wait_for_state(site: SlurmSite, state: str) -> dict[str, Any]:
    until(lambda: cluster(site)["status"]["phase"] == state, f"it does not become {state}")
    return dict(cluster(site)["status"])


def number(site: SlurmSite) -> int:
    """The job of the one cluster that there is."""
    return site.slurm_job(cluster(site)["metadata"]["id"])


def agent(site: SlurmSite) -> int:
    """The process that keeps the clusters."""
    text = (site.home / "pools" / "slurm+test" / "agent.json").read_text()
    return int(re.findall(r'"pid": (\d+)', text)[0])


def test_a_cluster_is_one_batch_job_whose_nodes_run_tasks(site: SlurmSite, tmp_path: Path) -> None:
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "word.txt").write_text("travelled\n")
    task = tmp_path / "task.yaml"
    task.write_text(TASK.format(folder=folder, on=ON))
    said = site.run("launch", "-y", "-c", "pair", "--slurm", "comment=for the paper", str(task))
    came = re.findall(r"travelled (\d) to (\S+) with (\d)\.", said)
    assert [rank for rank, _, _ in sorted(came)] == ["0", "1"]
    nodes = {node for _, node, _ in came}
    assert len(nodes) == 2
    facts = site.slurm.run("scontrol", "show", "job", str(number(site)))
    identity = cluster(site)["metadata"]["id"]
    assert f"Comment=trainway:{identity} cluster pair for the paper" in facts
    assert "TimeLimit=00:30:00" in facts
    assert "NumNodes=2 NumCPUs=4 NumTasks=2 CPUs/Task=2" in facts
    held = cluster(site)["status"]["nodes"]
    assert {node["host"] for node in held} == {f"{node}@pair" for node in nodes}
    assert [len(node["gpus"]) for node in held] == [1, 1]
    (folder / "word.txt").write_text("changed\n")
    said = site.run("exec", "pair", str(task))
    assert said.count("changed") == 2
    assert "setup" not in said
    said = site.run("exec", "pair", "cat word.txt")
    assert "| changed\n" in said, "exec runs where the files are"
    where = site.run("ssh", "pair", "echo", "$SLURMD_NODENAME").strip()
    assert f"{where}@pair" == held[0]["host"]
    site.run("exec", "pair", "--cpus", "3", "true", code=1)


def test_jobs_of_a_cluster_are_looked_at_cancelled_and_outlive_agents(
    site: SlurmSite, gate: Gate
) -> None:
    launch = ["launch", "-y", "-d", "-c", "dev", "--infra", ON, "--cpus", "1", "--"]
    site.run(*launch, *gate.command("first"))
    site.run("exec", "-d", "dev", "--cpus", "1", "--", *gate.command("second"))
    first = gate.next()
    assert first.name == "first"
    process, job = process_of(first), first.env["TRAINWAY_JOB_ID"]
    said = site.run("jobs", "exec", job, "--", "sh", "-c", "echo $TRAINWAY_JOB_ID $SLURMD_NODENAME")
    assert said.split() == [job, first.env["SLURMD_NODENAME"]]
    kill(site.server_pid())
    kill(agent(site))
    site.run("cancel", "dev", "1", "-y")
    until(lambda: not process.is_alive, "it is not cancelled")
    second = gate.next()
    until(
        lambda: "at the gate" in site.run("logs", "dev", "2", "--no-follow", code=101),
        "its log does not come",
    )
    second.let_go()
    site.run("logs", "dev", "2")
    shown = {
        job["number"]: job["job"]["status"]["phase"] for job in site.json("queue", "dev")["items"]
    }
    assert shown == {1: "Cancelled", 2: "Succeeded"}


def test_while_slurm_has_no_nodes_the_cluster_waits_and_says_why(site: SlurmSite) -> None:
    launch = ["launch", "-y", "-d", "-c", "later", "--infra", f"{ON}/main"]
    site.run(*launch, "--slurm", "begin=now+1hour", "echo hello")
    status = cluster(site)["status"]
    until(lambda: "BeginTime" in cluster(site)["status"]["message"], "Slurm's reason is not shown")
    assert status["phase"] == "INIT"
    asleep = number(site)
    site.slurm.run("scontrol", "update", f"JobId={asleep}", "StartTime=now")
    assert "hello" in site.run("logs", "later", "1")
    assert cluster(site)["status"]["phase"] == "UP"


def test_an_allocation_that_ended_has_stopped_the_cluster(site: SlurmSite, gate: Gate) -> None:
    launch = ["launch", "-y", "-d", "-c", "dev", "--infra", ON, "--slurm", "mem=500M", "--"]
    site.run(*launch, *gate.command("lost"))
    lost = gate.next()
    process, held = process_of(lost), number(site)
    site.slurm.run("scancel", str(held))
    status = wait_for_state(site, "STOPPED")
    assert (
        f"its allocation ended: the job was cancelled (Slurm: job {held}, CANCELLED)"
        == (status["message"])
    )
    until(lambda: not process.is_alive, "it goes on")
    job = lost.env["TRAINWAY_JOB_ID"]
    site.wait_for_phase(job, "Failed")
    assert site.job(job)["status"]["reason"] == "HostLost"
    site.run("exec", "dev", "true", code=1)
    site.run("start", "dev", "-y")
    site.run("exec", "-d", "dev", "--", *gate.command("next"))
    follower = gate.next()
    assert number(site) > held
    site.run("autostop", "dev", "-i", "0", "--down")
    kill(site.server_pid())
    follower.let_go()
    until(lambda: clusters(site) == [], "it does not go down")


def test_what_slurm_does_not_want_is_refused_in_its_words(site: SlurmSite) -> None:
    launch = ["launch", "-y", "-c", "no", "--infra"]
    for words, said in (
        ((f"{ON}/nowhere", "true"), "nvalid partition name"),
        ((ON, "--num-nodes", "9", "true"), "ode"),
        ((ON, "--slurm", "nodes=3", "true"), "--num-nodes"),
        (("local", "--slurm", "qos=high", "true"), "Slurm"),
    ):
        process = site.start(*launch, *words)
        printed, _ = process.communicate(timeout=TIMEOUT_S)
        assert process.returncode not in (0, 100), printed
        assert said in printed
        assert "Traceback" not in printed
    assert clusters(site) == []
