"""Preemption on SSH hosts: by suspending a job, and by taking nodes of an elastic one."""

from pathlib import Path

import pytest
import yaml
from gate import Gate
from preemption_scenario import TEAM, patient, plays, with_queue
from ssh_pool import CPUS, ON, SshPool, until

pytestmark = pytest.mark.xdist_group("ssh")


def test_a_job_makes_room_and_goes_on(ssh_pool: SshPool, gate: Gate, tmp_path: Path) -> None:
    plays(ssh_pool, ON, gate, tmp_path / "folder")


def test_an_elastic_gang_gives_up_a_host_and_takes_it_back(
    ssh_pool: SshPool, gate: Gate, tmp_path: Path
) -> None:
    with_queue(ssh_pool, tmp_path, cpu=4 * CPUS)
    marks, saved = tmp_path / "marks", tmp_path / "saved"
    saved.touch()
    file = tmp_path / "elastic.yaml"
    file.write_text(yaml.safe_dump(elastic(patient(marks, saved))))
    low = ssh_pool.submit_here("--priority", "-1", "--queue", TEAM, str(file))
    until(lambda: sizes(ssh_pool, low) == ["runs with 4 of 4 nodes"], "it does not run")

    high = ssh_pool.submit_here("--queue", TEAM, "--cpus", str(CPUS), "--", *gate.command("high"))
    visitor = gate.next()
    fewer = ssh_pool.hosts_of(low)
    assert fewer.keys() == {"node-0-0", "node-0-1", "node-0-2"}
    assert ssh_pool.phase(low) == "Running"
    visitor.let_go()
    ssh_pool.run("jobs", "wait", high)

    told = ["runs with 4 of 4 nodes", "runs with 3 of 4 nodes", "runs with 4 of 4 nodes"]
    until(lambda: sizes(ssh_pool, low) == told, "it does not grow back")
    assert marks.read_text().split() == [*["begin"] * 4, "saved", "begin"]
    assert ssh_pool.job(low)["status"]["restarts"] == 0
    ssh_pool.run("jobs", "cancel", low)


def sizes(pool: SshPool, job: str) -> list[str]:
    events = pool.json("jobs", "events", job)["items"]
    return [event["message"] for event in events if event["reason"] == "NodesChanged"]


def elastic(command: list[str]) -> dict[str, object]:
    """A JobSet of two to four nodes, each of which needs a host to itself."""
    requests = {"requests": {"cpu": CPUS}}
    container = {"name": "main", "image": "none", "command": command, "resources": requests}
    pod = {"restartPolicy": "Never", "containers": [container]}
    job = {"parallelism": 4, "completions": 4, "completionMode": "Indexed", "backoffLimit": 0}
    metadata = {"annotations": {"trainway.dev/min-nodes": "2"}}
    template = {"metadata": metadata, "spec": {**job, "template": {"spec": pod}}}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "low"},
        "spec": {"replicatedJobs": [{"name": "node", "template": template}]},
    }
