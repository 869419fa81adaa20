"""Restarts by exit code, and nodes, on a cluster of Slurm."""

import pytest
from slurm_site import ON, SlurmSite

pytestmark = pytest.mark.xdist_group("slurm")

SCRIPT = "case $TRAINWAY_RESTART_ATTEMPT in 0) exit 33;; 1) exit 5;; esac; exit 7"


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


def test_nodes_of_slurm_are_listed_and_not_ours_to_set_aside(slurm_site: SlurmSite) -> None:
    (place,) = slurm_site.json("nodes", "list", "--on", ON)
    name = place["nodes"][0]["name"]
    slurm_site.run("nodes", "drain", name, "--on", ON, code=1)
    assert place["nodes"][0]["drained"] == ""
