"""Several jobs of one submission on a cluster of Slurm: one array, each job with its own life."""

from pathlib import Path

import pytest
from slurm_site import ON, SlurmSite, until

pytestmark = pytest.mark.xdist_group("slurm")

SCRIPT = """\
echo rank $TRAINWAY_JOB_RANK of $SKYPILOT_NUM_JOBS as $SLURM_ARRAY_TASK_ID
until [ -e {flag} ]; do sleep 0.1; done
[ $TRAINWAY_JOB_RANK != 3 ] || exit 7
echo done
"""


def numbers(site: SlurmSite, array: str) -> dict[str, str]:
    """The states of the jobs of an array, by their numbers in Slurm."""
    words = ("squeue", "--noheader", "--array", "--states=all", "--format=%i %T %k")
    lines = [line.split() for line in site.slurm.run(*words).splitlines()]
    return {number: state for number, state, mark in lines if mark == f"trainway:{array}"}


def test_the_trials_of_a_sweep_are_batch_jobs_with_their_parameters(
    slurm_site: SlurmSite, tmp_path: Path
) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import os, sys\n"
        "print(*sys.argv[1:], os.environ['TRAINWAY_PARAM_LR'])\n"
        "sys.exit(sys.argv[2] == '1e-3')\n"
    )
    words = ("--name", "rates", "--grid", "lr=0.10,1e-3,1", "--parallel", "2")
    slurm_site.run("run", str(script), "--on", ON, *words, code=4)
    text = slurm_site.run("runs", "show", "rates")
    assert "3 jobs, at most 2 at a time: 2 succeeded, 1 failed" in text.splitlines()[0]
    again = slurm_site.run("runs", "rerun", "--failed", "rates").split()
    slurm_site.run("jobs", "wait", again[1], code=4)
    assert slurm_site.run("jobs", "logs", "--raw", again[1]) == "--lr 1e-3 1e-3\n"
    shown = slurm_site.run("runs", "show", "rates")
    assert again[1] in shown
    assert "3 jobs, at most 2 at a time: 2 succeeded, 1 failed" in shown.splitlines()[0]


def test_several_jobs_are_one_array(slurm_site: SlurmSite, tmp_path: Path) -> None:
    site = slurm_site
    flag = tmp_path / "go"
    script = SCRIPT.format(flag=flag)
    words = ("--num-jobs", "4", "--name", "many", "--", "sh", "-c", script)
    lines = site.run("run", "--detach", "--on", ON, *words).splitlines()
    names, ids = zip(*(line.split() for line in lines), strict=True)
    assert names == ("many-0", "many-1", "many-2", "many-3")
    for job in ids:
        site.wait_for_phase(job, "Running")

    found = numbers(site, ids[0])
    (array,) = {number.partition("_")[0] for number in found}
    assert sorted(found) == [f"{array}_{rank}" for rank in range(4)]
    for rank, job in enumerate(ids):
        (output,) = site.folder(job).glob("slurm-*.out")
        assert output.name == f"slurm-{array}_{rank}.out"
    until(lambda: "rank 3 of 4 as 3" in site.run("jobs", "logs", ids[3]), "its log does not come")
    assert site.run("jobs", "exec", ids[3], "--", "printenv", "TRAINWAY_JOB_RANK") == "3\n"

    site.run("jobs", "cancel", ids[1])
    site.run("jobs", "suspend", ids[2])
    site.wait_for_phase(ids[2], "Paused")
    until(lambda: numbers(site, ids[0])[f"{array}_2"] == "PENDING", "Slurm does not hold it")
    states = numbers(site, ids[0])
    assert [states[f"{array}_{rank}"] for rank in (0, 3)] == ["RUNNING", "RUNNING"]

    site.run("jobs", "resume", ids[2])
    site.wait_for_phase(ids[2], "Queued", "Starting", "Running")
    site.run("jobs", "cancel", ids[2])
    flag.touch()
    site.run("jobs", "wait", *ids, code=4)
    ended = [site.look(job)["status"] for job in ids]
    phases = [status["phase"] for status in ended]
    assert phases == ["Succeeded", "Cancelled", "Cancelled", "Failed"]
    assert ended[3]["exitCode"] == 7
    site.run("jobs", "delete", *ids)
    until(lambda: list((site.shared / "arrays").iterdir()) == [], "the array's folder is left")
