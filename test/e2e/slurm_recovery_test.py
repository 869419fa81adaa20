"""Restarts by exit code, and nodes, on a cluster of Slurm."""

import os
from pathlib import Path

import pytest
from slurm_site import ON, SlurmSite, site_of, until

from slurm_cluster import SlurmCluster

pytestmark = pytest.mark.xdist_group("slurm")

SCRIPT = "case $TRAINWAY_RESTART_ATTEMPT in 0) exit 33;; 1) exit 5;; esac; exit 7"

GPUS = "echo '0, GPU-0, 0'; echo '1, GPU-1, 0'\n"


def test_a_named_exit_code_does_not_count_and_others_do(slurm_site: SlurmSite) -> None:
    options = ("--recover-on-exit-codes", "33", "--max-restarts", "1", "--name", "codes")
    slurm_site.run("run", "--on", ON, *options, "--", "sh", "-c", SCRIPT, code=4)

    status = slurm_site.job("codes")["status"]
    assert (status["restarts"], status["exitCode"], status["cause"]) == (2, 7, "ExitCode")
    ended = [(each["exitCode"], each["counts"]) for each in status["endedAttempts"]]
    assert ended == [(33, False), (5, True), (7, None)]


def test_nodes_are_checked_before_a_gang_starts(slurm_site: SlurmSite) -> None:
    words = ("run", "--on", ON, "--health-check", "--nodes", "2", "--name", "checked")
    slurm_site.run(*words, "--", "true")
    printed = slurm_site.run("jobs", "show", "checked")
    assert "disk, network of 2 nodes: all well after " in printed


def test_a_node_that_fails_its_check_is_kept_off_and_the_job_starts_on_others(
    idle_slurm_cluster: SlurmCluster, tmp_path: Path
) -> None:
    sick = idle_slurm_cluster[0].name
    program = tmp_path / "nvidia-smi"
    program.write_text(f'#!/bin/sh\n[ "$(hostname)" != {sick} ] || exit 9\n{GPUS}')
    program.chmod(0o755)
    env = {"env": {"PATH": f"{tmp_path}:{os.environ['PATH']}"}}
    with site_of(idle_slurm_cluster, tmp_path / "site", section=env) as site:
        words = ("--health-check", "--nodes", "2", "--gpus", "1", "--name", "sick")
        site.run("run", "--on", ON, *words, "--", "hostname")
        status = site.job("sick")["status"]
        events = site.json("jobs", "events", "sick")["items"]
        number = site.slurm_job(site.job("sick")["metadata"]["id"])
        why = "its health check failed: nvidia-smi exited with 9: it said nothing"
        assert aside(site) == {sick: why}
        site.run("run", "--on", ON, "--name", "later", "--", "true")
        later = site.slurm_job(site.job("later")["metadata"]["id"])
        site.run("nodes", "undrain", sick, "--on", ON)
        assert aside(site) == {}
    assert idle_slurm_cluster.facts(later)["ExcNodeList"] == sick, "no job gets the sick node"
    assert [each["counts"] for each in status["endedAttempts"]] == [False]
    (told,) = [event["message"] for event in events if event["reason"] == "NodeSetAside"]
    assert told.startswith(f"node {sick} failed its health check: nvidia-smi exited with 9")
    assert idle_slurm_cluster.facts(number)["ExcNodeList"] == sick


def test_our_jobs_are_kept_off_a_node_that_somebody_sets_aside(slurm_site: SlurmSite) -> None:
    (place,) = slurm_site.json("nodes", "list", "--on", ON)
    name = place["nodes"][0]["name"]
    late = ("--slurm", "begin=now+1hour", "--name", "waits-already")
    job = slurm_site.submit("--on", ON, *late, "--", "true")
    slurm_site.wait_for_phase(job, "Queued")
    number = slurm_site.slurm_job(job)
    slurm_site.run("nodes", "drain", name, "--on", ON, "--reason", "its fan is loud")
    assert aside(slurm_site) == {name: "its fan is loud"}
    until(
        lambda: slurm_site.slurm.facts(number)["ExcNodeList"] == name,
        "a job that waits already is not kept off it",
    )
    slurm_site.run("nodes", "undrain", name, "--on", ON)
    assert aside(slurm_site) == {}
    until(
        lambda: slurm_site.slurm.facts(number)["ExcNodeList"] == "(null)",
        "it is still kept off the node that was taken back",
    )
    slurm_site.run("jobs", "cancel", job)


def aside(site: SlurmSite) -> dict[str, str]:
    """The nodes that are set aside, and why."""
    (place,) = site.json("nodes", "list", "--on", ON)
    return {node["name"]: node["drained"] for node in place["nodes"] if node["drained"]}
