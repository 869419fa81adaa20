"""The cluster by itself: real jobs, real failures, nothing left behind."""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from environments import MPI4PY, environment, require_mpirun, unavailable
from host_processes import described
from installation import all_pids
from janitor import cgroups_of
from patience import PATIENCE_S, until
from slurm_configuration import Accounting
from slurm_fixtures import started
from slurm_requirements import require_pmix
from slurm_sleepers import sleeps
from switch import UnavailableError

from slurm_cluster import SlurmCluster

pytestmark = pytest.mark.xdist_group("slurm")

HERE = Path(__file__).parent
FOLDERS = [HERE, HERE.parent / "ssh_hosts", HERE.parent / "cluster"]
MEETING = (
    "echo $CUDA_VISIBLE_DEVICES; touch $SLURM_STEP_ID; "
    "until [ -e 0 ] && [ -e 1 ]; do sleep 0.1; done"
)
"""A step that ends when the other one runs too."""


@pytest.fixture
def cluster(idle_slurm_cluster: SlurmCluster) -> SlurmCluster:
    return idle_slurm_cluster


@pytest.fixture(scope="module")
def recorded() -> Iterator[SlurmCluster]:
    with started(2, accounting="slurmdbd", rest=True) as cluster:
        yield cluster


def test_two_clusters_start_at_once_and_leave_nothing_behind() -> None:
    with ExitStack() as stack:
        clusters = [stack.enter_context(started(2, memory_limits=True)) for _ in range(2)]
        first, second = clusters
        job = first.submit("exec sleep 1000")
        first.wait_for_state(job, "RUNNING")
        assert second.run("squeue", "-h") == ""
        assert cgroups_of(first.name)
        assert processes_of(first.folder)
    for cluster in clusters:
        assert not cluster.folder.exists()
        assert processes_of(cluster.folder) == []
        assert cgroups_of(cluster.name) == []


def test_nothing_is_left_of_a_cluster_whose_maker_was_killed() -> None:
    started(1, namespaces=True, memory_limits=True).close()  # or the test is skipped
    maker = subprocess.Popen(
        [sys.executable, str(HERE / "abandoned_cluster.py")],
        env={**os.environ, "PYTHONPATH": ":".join(map(str, FOLDERS))},
        stdout=subprocess.PIPE,
        text=True,
    )
    with maker:
        assert maker.stdout is not None
        name, folder, interface = maker.stdout.readline().split()
        assert processes_of(Path(folder))
        maker.kill()
    until(lambda: processes_of(Path(folder)) == [], "something still runs")
    assert not Path(folder).exists()
    assert cgroups_of(name) == []
    until(lambda: not Path("/sys/class/net", interface).exists(), "the interface is still there")


def test_a_step_runs_on_two_nodes(cluster: SlurmCluster) -> None:
    said = cluster.run("srun", "-N2", "hostname").split()
    assert sorted(said) == [cluster[0].name, cluster[1].name]


def test_nodes_reach_each_other_by_name(cluster: SlurmCluster) -> None:
    first, second = cluster[0].name, cluster[1].name
    look = f"getent hosts {second} && timeout 60 bash -c '< /dev/tcp/{second}/6818'"
    said = cluster.run("srun", "-w", first, "sh", "-c", look)
    assert said.split() == [cluster.place.node_addresses[1], second]


def test_each_step_has_gpus_of_its_own(cluster: SlurmCluster, tmp_path: Path) -> None:
    step = f"srun -n1 --gres=gpu:1 --exact sh -c '{MEETING}' &\n"
    job = cluster.submit(
        f"cd {tmp_path}\n{step}{step}wait",
        *("-n2", "-N1", "--gres=gpu:2", "--mem-per-cpu=100"),
    )
    cluster.wait_for_state(job, "COMPLETED")
    assert sorted(cluster.output(job).split()) == ["0", "1"]
    refused = cluster.attempt("srun", "-N1", "--gres=gpu:3", "true")
    assert "Requested node configuration is not available" in refused.stderr


def test_too_much_memory_ends_a_job(cluster: SlurmCluster) -> None:
    job = cluster.submit("python3 -c 'print(len(bytearray(300 << 20)))'", "--mem=100M")
    cluster.wait_for_state(job, "OUT_OF_MEMORY")
    enough = cluster.submit("python3 -c 'print(len(bytearray(300 << 20)))'", "--mem=500M")
    cluster.wait_for_state(enough, "COMPLETED")
    assert cluster.output(enough).split() == [str(300 << 20)]


def test_two_roles_are_one_heterogeneous_job(cluster: SlurmCluster) -> None:
    job = cluster.submit(
        "#!/bin/sh\n#SBATCH --nodes=1 --ntasks=1\n#SBATCH hetjob\n#SBATCH --nodes=2 --ntasks=2\n"
        "srun --het-group=0 sh -c 'echo one $(hostname)' &\n"
        "srun --het-group=1 sh -c 'echo two $(hostname)' &\nwait\n"
    )
    cluster.wait_for_state(job, "COMPLETED")
    said = sorted(line.split() for line in cluster.output(job).splitlines())
    assert [role for role, _ in said] == ["one", "two", "two"]
    assert len({node for _, node in said}) == 3


def test_srun_starts_mpi_with_pmix(cluster: SlurmCluster) -> None:
    try:
        require_pmix()
    except UnavailableError as error:
        unavailable(str(error))
    require_mpirun()
    python = environment(*MPI4PY).path / "bin" / "python"
    command = [str(python), str(HERE / "allreduce.py")]
    said = cluster.run("srun", "--mpi=pmix", "-N2", "--ntasks-per-node=2", *command)
    lines = sorted((line.split() for line in said.splitlines()), key=lambda words: words[1])
    first, second = cluster[0].name, cluster[1].name
    assert lines == [
        [node, str(rank), "4", "6"] for rank, node in enumerate([first, first, second, second])
    ]


def test_jobs_go_on_while_there_is_no_controller(cluster: SlurmCluster) -> None:
    job = cluster.submit("exec sleep 1000")
    cluster.wait_for_state(job, "RUNNING")
    until(lambda: any(sleeps(node) for node in cluster.nodes), "it does not run")
    cluster.stop_controller()
    try:
        assert cluster.attempt("squeue", timeout_s=2).returncode != 0
        assert any(sleeps(node) for node in cluster.nodes)
    finally:
        cluster.start_controller()
    cluster.wait_for_state(job, "RUNNING")


@pytest.mark.parametrize("kind", ["none", "text", "slurmdbd"])
def test_what_sacct_says_of_a_job_that_failed(
    kind: Accounting, cluster: SlurmCluster, recorded: SlurmCluster
) -> None:
    with ExitStack() as stack:
        if kind == "none":
            cluster = stack.enter_context(started(1))
        elif kind == "slurmdbd":
            cluster = recorded
        assert cluster.shape.accounting == kind
        job = cluster.submit("srun true; exit 3")
        cluster.wait_for_state(job, "FAILED")
        if kind == "none":
            refused = cluster.attempt("sacct", "-j", str(job))
            assert "Slurm accounting storage is disabled" in refused.stderr
            return
        steps = {f"{job}.batch": "FAILED", f"{job}.0": "COMPLETED"} if kind == "slurmdbd" else {}
        until(
            lambda: states(cluster, job) == {str(job): "FAILED", **steps},
            "sacct does not say so",
            said=lambda: str(states(cluster, job)),
        )


def test_slurmrestd_answers_who_has_a_token(recorded: SlurmCluster) -> None:
    job = recorded.submit("exec sleep 1000", "--comment=mine")
    recorded.wait_for_state(job, "RUNNING")
    try:
        found = {each["job_id"]: each for each in asked(recorded, "jobs")["jobs"]}
        assert found[job]["job_state"] == "RUNNING"
        assert found[job]["comment"] == "mine"
    finally:
        recorded.run("scancel", str(job))
    with pytest.raises(urllib.error.HTTPError, match=r"401|500"):
        asked(recorded, "jobs", token="wrong")  # noqa: S106


def asked(cluster: SlurmCluster, what: str, token: str = "") -> dict[str, Any]:
    request = urllib.request.Request(  # noqa: S310 (loopback)
        f"{cluster.rest_url}/slurm/v0.0.38/{what}",
        headers={"X-SLURM-USER-NAME": "root", "X-SLURM-USER-TOKEN": token or cluster.token()},
    )
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:  # noqa: S310
        found: dict[str, Any] = json.load(answer)
    return found


def states(cluster: SlurmCluster, job: int) -> dict[str, str]:
    """Those of a job and its steps."""
    return {each["JobID"]: each["State"] for each in cluster.accounts(job)}


def processes_of(folder: Path) -> list[str]:
    """Those that name a folder among their words."""
    found = [described(pid) for pid in all_pids()]
    return [" ".join(each.words) for each in found if each and str(folder) in " ".join(each.words)]
