"""What runs on Slurm beside torch, and how jobs end there that outstay their limits.

All jobs are submitted at once, and then looked at one by one: most of their time they wait for each
other's imports, or for Slurm to look at the clock.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from environments import ARRAYS, REPOSITORY, environment, require_mpirun
from slurm_site import ON, SlurmSite, site_of, until

from slurm_cluster import SlurmCluster
from trainway.json_types import Json

pytestmark = pytest.mark.xdist_group("slurm")

SAVES = (
    'trap "echo saved > $TRAINWAY_OUTPUT_DIR/state; exit 0" TERM; touch {here}; '
    "while :; do sleep 1000 & wait; done"
)
"""Keeps a checkpoint when it is told to end, and says when it is ready to."""
LIMIT_S = 65
"""After so long the job is over; it is told 30 s before, and Slurm looks every 30 s."""
ROLES = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: roles}
spec:
  replicatedJobs:
  - name: server
    template: {spec: {template: {spec: {restartPolicy: Never, containers: [
      {name: main, command: [sleep, "1000"], resources: {requests: {cpu: 1}}}]}}}}
  - name: client
    template: {spec: {parallelism: 2, completions: 2, completionMode: Indexed, template: {spec: {
      restartPolicy: Never, containers: [
      {name: main, command: [sleep, "1000"], resources: {requests: {cpu: 2}}}]}}}}
"""
"""Two parts of a heterogeneous job."""
TAKES = "echo begun; python3 -c 'bytearray(500 << 20)'; echo went on; exit 1"


@dataclass(frozen=True)
class Case:
    """A job on two nodes, and what one of its pods says."""

    name: str
    said: str

    def __str__(self) -> str:
        return self.name


CASES = [
    Case("jax", r"process 1 of 2 has 3\.0"),
    Case("xgboost", r"\[9\]\s+train-rmse:0\.\d+"),
    Case("mpi-trainjob", r"sum 3: 8 MB"),
]


@pytest.fixture(scope="module")
def site(
    slurm_cluster: SlurmCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SlurmSite]:
    require_mpirun()
    variables = environment(*ARRAYS).variables()
    with site_of(slurm_cluster, tmp_path_factory.mktemp("slurm"), variables, mem="2G") as made:
        yield made


@pytest.fixture(scope="module")
def jobs(site: SlurmSite, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The ids of all jobs, by name."""
    folder = tmp_path_factory.mktemp("manifests")
    here = folder / "here"
    limited = {"late": ("time=30", SAVES.format(here=here)), "greedy": ("mem=200M", TAKES)}
    found = {
        name: site.submit("--on", ON, "--slurm", limit, "--name", name, "--", "sh", "-c", script)
        for name, (limit, script) in limited.items()
    }
    for case in CASES:
        file = folder / f"{case.name}.yaml"
        text = (REPOSITORY / "examples" / file.name).read_text()
        file.write_text(text.replace("mpi_train.py", "mpi_allreduce.py"))  # which needs no torch
        found[case.name] = site.submit(str(file), "--on", ON)
    (folder / "roles.yaml").write_text(ROLES)
    found["roles"] = site.submit(str(folder / "roles.yaml"), "--on", ON)
    until(here.exists, "a job does not begin")
    site.slurm.expire(site.slurm_job(found["late"]), LIMIT_S)
    return found


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_framework_finds_its_peers(case: Case, site: SlurmSite, jobs: dict[str, str]) -> None:
    job = jobs[case.name]
    site.run("jobs", "wait", job)

    assert re.search(case.said, site.run("jobs", "logs", job))
    nodes = site.job(job)["status"]["nodes"]
    assert len({node["host"] for node in nodes}) == len(nodes) == 2


@pytest.mark.parametrize(("role", "rank"), [("server", 0), ("client", 1)])
def test_a_command_gets_beside_pods_of_all_parts(
    site: SlurmSite, jobs: dict[str, str], role: str, rank: int
) -> None:
    def pods() -> list[str]:
        told = site.look(jobs["roles"])["status"]["nodes"]
        return [
            node["host"]
            for node in told
            if (node["role"], node["rank"], node["phase"]) == (role, rank, "Running")
        ]

    until(lambda: pods() != [], "its pods do not run")
    where = ("--role", role, "--rank", str(rank))
    ask = ("sh", "-c", "echo $SLURMD_NODENAME $JOB_COMPLETION_INDEX")
    printed = site.run("jobs", "exec", jobs["roles"], *where, "--", *ask)
    assert printed.split()[0] == pods()[0]
    assert role == "server" or printed.split()[1] == "1"


def test_what_pods_of_a_job_use_is_shown_while_they_run(
    site: SlurmSite, jobs: dict[str, str]
) -> None:
    def used() -> list[Json]:
        nodes = site.look(jobs["roles"])["status"]["nodes"]
        return [node["usage"] for node in nodes if "usage" in node]

    until(lambda: used() != [], "nothing is known of what its pods use")
    assert all(found["peakMemory"] >= found["memory"] > 0 for found in used())
    assert "system/memory@" in site.run("jobs", "metrics", jobs["roles"], "--system")


def test_a_job_that_takes_too_much_memory_says_so(site: SlurmSite, jobs: dict[str, str]) -> None:
    job = jobs["greedy"]
    site.run("jobs", "wait", job, code=4)

    (node,) = site.job(job)["status"]["nodes"]
    assert node["message"].startswith("it used more memory than it has: its ")
    assert "its limit is " in node["message"]
    assert "OOMKilled" in site.run("jobs", "events", job)


def test_a_job_has_time_for_a_checkpoint_before_its_limit(
    site: SlurmSite, jobs: dict[str, str]
) -> None:
    job = jobs["late"]
    site.run("jobs", "wait", job, code=4)

    status = site.job(job)["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "TimeLimit")
    assert "TimeLimit" in site.run("jobs", "show", job)
    assert (Path(status["outputDir"]) / "state").read_text() == "saved\n"
