"""`trainway launch` on AWS: machines are rented, train, and are given back, whatever happens."""

import json
from pathlib import Path

import pytest
from installation import Installation
from moto_cloud import REGION, MotoCloud
from patience import until

pytestmark = pytest.mark.xdist_group("ssh")


def test_a_task_of_two_nodes_runs_on_rented_machines(
    user: Installation, paired_cloud: MotoCloud, tmp_path: Path
) -> None:
    paired_cloud.fail("RunInstances", "InsufficientInstanceCapacity", zone=f"{REGION}a")
    task = tmp_path / "task.yaml"
    task.write_text(
        "num_nodes: 2\nresources: {infra: aws, cpus: 2}\n"
        "run: echo $(uname -n) has rank $SKYPILOT_NODE_RANK\n"
    )
    said = user.run("launch", "-y", "-c", "pair", str(task))
    assert said.count("has rank 0") == 1
    assert said.count("has rank 1") == 1

    (cluster,) = user.json("status")["items"]
    assert cluster["spec"]["infra"] == f"aws/{REGION}/{REGION}b"
    rental = cluster["status"]["rental"]
    assert (rental["instanceType"], rental["hourlyPrice"]) == ("m5.large", "0.194")
    assert [each["infra"] for each in rental["history"]] == [f"aws/{REGION}/{REGION}a"]
    assert len(paired_cloud.living()) == 2

    assert "again" in user.run("exec", "pair", "--", "echo", "again")
    user.run("stop", "pair", "-y")
    assert {each["state"] for each in paired_cloud.living()} == {"stopped"}
    user.run("start", "pair", "-y")
    until(lambda: user.json("status")["items"][0]["status"]["phase"] == "UP", "it does not start")
    assert "third" in user.run("exec", "pair", "--", "echo", "third")

    user.run("down", "pair", "-y")
    assert paired_cloud.living() == []
    assert paired_cloud.groups() == []
    report = json.loads(user.run("cost-report", "-o", "json"))
    assert report


def test_a_job_goes_on_elsewhere_when_its_machine_is_taken(
    user: Installation, paired_cloud: MotoCloud, tmp_path: Path
) -> None:
    pool = tmp_path / "pool.yaml"
    pool.write_text(
        "pool: {workers: 1}\nnum_nodes: 2\nresources: {infra: aws, cpus: 2, use_spot: true}\n"
        "setup: echo ready\n"
    )
    user.run("jobs", "pool", "apply", "-p", "spot", str(pool), "-y")
    program = 'echo step >>"$TRAINWAY_OUTPUT_DIR/steps"; sleep 600'
    job = user.run("jobs", "launch", "-p", "spot", "-d", "--nodes", "2", program).split()[0]
    until(lambda: user.phase(job) == "Running", "it does not run")
    first = {each["id"] for each in paired_cloud.living()}
    assert len(first) == 2
    paired_cloud.take(sorted(first)[0])
    until(
        lambda: (
            user.phase(job) == "Running"
            and not first & {each["id"] for each in paired_cloud.living()}
        ),
        "it does not go on",
    )
    user.run("jobs", "cancel", job, "-y")
    user.run("jobs", "pool", "down", "spot", "-y")
    until(lambda: paired_cloud.living() == [], "machines are left")


def test_a_job_on_a_cloud_has_machines_for_as_long_as_it_runs(
    user: Installation, paired_cloud: MotoCloud
) -> None:
    said = user.run(
        "run",
        "--on",
        "aws",
        "--cpus",
        "2",
        "--nodes",
        "2",
        "--",
        "sh",
        "-c",
        "echo from $(uname -n)",
    )
    assert said.count("from h") == 2
    until(lambda: paired_cloud.living() == [], "machines are left")
    until(lambda: user.json("jobs", "pool", "status")["items"] == [], "its pool is left")


def test_a_job_for_which_there_are_no_machines_fails_and_says_what_was_tried(
    user: Installation, paired_cloud: MotoCloud
) -> None:
    paired_cloud.fail("RunInstances", "InsufficientInstanceCapacity", times=20)
    user.run("run", "--on", "aws", "--cpus", "2", "--name", "poor", "--", "true", code=4)

    status = user.job("poor")["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "NoMachines")
    assert "InsufficientInstanceCapacity" in status["message"]
    until(lambda: user.json("jobs", "pool", "status")["items"] == [], "its pool is left")
    assert paired_cloud.living() == []
