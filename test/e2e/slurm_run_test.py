"""The command line with a cluster of Slurm, as users have it."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from installation import TIMEOUT_S
from slurm_site import ON, SlurmSite, site_of, until

import trainway
from slurm_cluster import SlurmCluster

pytestmark = pytest.mark.xdist_group("slurm")

GOLDEN = Path(trainway.__file__).parent / "backends" / "slurm" / "testdata"
ROLES = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: two-roles}
spec:
  replicatedJobs:
  - name: server
    template: {spec: {template: {spec: {restartPolicy: Never, containers: [
      {name: main, command: [sh, -c, 'echo server on $SLURMD_NODENAME'],
       resources: {requests: {cpu: 1, memory: 64Mi}}}]}}}}
  - name: client
    template: {spec: {parallelism: 2, completions: 2, completionMode: Indexed, template: {spec: {
      restartPolicy: Never, containers: [
      {name: main, command: [sh, -c, 'echo client $JOB_COMPLETION_INDEX gpu $CUDA_VISIBLE_DEVICES'],
       resources: {requests: {cpu: 2, memory: 128Mi}, limits: {nvidia.com/gpu: 1}}}]}}}}
"""


@pytest.fixture(scope="module")
def site(slurm_site: SlurmSite) -> SlurmSite:
    return slurm_site


def test_a_command_runs_in_every_pod(site: SlurmSite) -> None:
    printed = site.run("run", "--on", ON, "--nodes", "2", "--name", "hello", "--", "hostname")
    said = [line.split(" | ") for line in printed.splitlines()]
    assert sorted(pod for pod, _ in said) == ["node-0", "node-1"]
    names = {node.name for node in site.slurm.nodes}
    assert len({host for _, host in said} & names) == 2
    job = site.job("hello")
    assert job["status"]["phase"] == "Succeeded"
    assert [node["phase"] for node in job["status"]["nodes"]] == ["Succeeded", "Succeeded"]


def test_nodes_are_nodes_unless_they_may_be_packed(site: SlurmSite) -> None:
    count = len(site.slurm.nodes) + 1
    words = ("run", "--on", ON, "--nodes", str(count))
    refused = said_by(site, *words, "--", "true", code=1)
    assert f"it asks for {count} nodes, and partition main has {count - 1} nodes; --pack" in refused
    printed = site.run(*words, "--pack", "--cpus", "1", "--", "echo", "here")
    assert printed.count("| here\n") == count


def test_who_asks_for_no_memory_is_told_what_slurm_gives(site: SlurmSite) -> None:
    site.slurm.run("scontrol", "create", "PartitionName=lean", "Nodes=ALL", "DefMemPerCPU=100")
    try:
        words = ("run", "--on", f"{ON}/lean", "--cpus", "2")
        printed = said_by(site, *words, "--", "true")
        assert "gets 200 MiB with its 2 CPUs (DefMemPerCPU of partition lean)" in printed
        assert "memory" not in said_by(site, *words, "--memory", "64Mi", "--", "true")
    finally:
        site.slurm.wait_until_empty()  # a partition in which a job is completing cannot be deleted
        site.slurm.run("scontrol", "delete", "PartitionName=lean")


def said_by(site: SlurmSite, *words: str, code: int = 0) -> str:
    """All that a command prints."""
    process = site.start(*words)
    printed, _ = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == code, printed
    return printed


def test_a_failure_has_the_same_exit_status_as_anywhere(site: SlurmSite) -> None:
    site.run("run", "--on", ON, "--name", "fails", "--", "sh", "-c", "exit 7", code=4)
    status = site.job("fails")["status"]
    assert (status["phase"], status["exitCode"]) == ("Failed", 7)


def test_roles_that_differ_are_a_heterogeneous_job(site: SlurmSite, tmp_path: Path) -> None:
    file = tmp_path / "roles.yaml"
    file.write_text(ROLES)
    printed = site.run("run", str(file), "--on", ON)
    assert "server on" in printed
    assert re.search(r"client 0 gpu \d$", printed, re.MULTILINE)
    assert re.search(r"client 1 gpu \d$", printed, re.MULTILINE)


@pytest.fixture(scope="module")
def golden(
    slurm_cluster: SlurmCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SlurmSite]:
    """A cluster that is configured as in the golden files."""
    path = {"PATH": "/opt/my tools:/usr/bin"}
    section = {"home": "~/.trainway/slurm", "partition": "main", "account": "lab", "env": path}
    with site_of(slurm_cluster, tmp_path_factory.mktemp("golden"), section=section) as made:
        yield made


@pytest.mark.parametrize("name", ["torch-ddp", "mpi", "task"])
def test_explain_prints_the_golden_script(golden: SlurmSite, name: str) -> None:
    printed = golden.run("explain", "--on", ON, "-f", f"examples/{name}.yaml")
    wanted = (GOLDEN / f"{name}.sbatch").read_text()
    assert printed.replace(job_id_in(printed), job_id_in(wanted)) == wanted
    golden.slurm.run("sbatch", "--test-only", text=printed)


def job_id_in(script: str) -> str:
    found = re.search("--comment=trainway:(.+)", script)
    assert found is not None
    return found[1]


def test_options_reach_slurm(site: SlurmSite) -> None:
    words = ("--slurm", "comment=for the paper", "--slurm", "begin=now+1hour", "--slurm", "nice=7")
    job = site.submit("--on", ON, *words, "--name", "later", "--", "true")
    site.wait_for_phase(job, "Queued")
    until(
        lambda: site.look(job)["status"].get("reason") == "BeginTime",
        "Slurm's reason is not shown",
    )
    number = site.slurm_job(job)
    told = site.slurm.run("scontrol", "show", "job", str(number))
    assert f"Comment=trainway:{job} for the paper" in told
    assert "Nice=7" in told
    site.run("jobs", "cancel", job)
    site.wait_for_phase(job, "Cancelled")
    site.slurm.wait_for_state(number, "CANCELLED")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--slurm", "output=x"), "output: cannot be set: every rank has a log of its own"),
        (("--slurm", "qos"), "qos"),
        (("--slurm", "partition=nowhere"), "invalid partition"),
        (("--image", "python:3.12"), "neither Pyxis nor Apptainer"),
    ],
)
def test_what_cannot_be_is_refused(site: SlurmSite, words: tuple[str, ...], said: str) -> None:
    process = site.start("run", "--on", ON, "--name", "refused", *words, "--", "true")
    printed, _ = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode in (1, 2), printed
    assert said in printed
    assert "Traceback" not in printed
    assert "refused" not in site.slurm.run("squeue", "-h", "--states=all", "-o", "%j")


def test_a_suspended_job_frees_its_nodes_and_goes_on(site: SlurmSite, tmp_path: Path) -> None:
    flag = tmp_path / "go"
    script = f"echo begun; until [ -e {flag} ]; do sleep 0.1; done; echo done"
    job = site.submit("--on", ON, "--name", "held", "--", "sh", "-c", script)
    site.wait_for_phase(job, "Running")
    site.run("jobs", "suspend", job)
    site.wait_for_phase(job, "Paused")
    number = site.slurm_job(job)
    until(
        lambda: site.slurm.facts(number)["JobState"] == "PENDING",
        "Slurm does not hold it",
    )
    flag.touch()
    site.run("jobs", "resume", job)
    site.wait_for_phase(job, "Succeeded")
    assert "done" in site.run("jobs", "logs", job)


AT_WORK_THEN_STUCK = """
import os, sys, time


def at_work():
    while not os.path.exists(sys.argv[1]):
        print("at work", flush=True)
        time.sleep(0.2)


def stuck():
    time.sleep(3600)


at_work()
stuck()
"""


def test_a_command_gets_beside_a_pod_and_ends_it_when_it_hangs(
    site: SlurmSite, tmp_path: Path
) -> None:
    flag = tmp_path / "go"
    words = (sys.executable, "-c", AT_WORK_THEN_STUCK, str(flag))
    options = ("--hang-timeout", "8s", "--env", "WORD=hello")
    job = site.submit("--on", ON, "--name", "beside", *options, "--", *words)
    until(lambda: "at work" in site.run("jobs", "logs", job), "its pod does not run")
    printed = site.run("jobs", "exec", job, "--", "sh", "-c", "echo $WORD $SLURMD_NODENAME")
    word, node = printed.split()
    assert word == "hello"
    assert node in {each.name for each in site.slurm.nodes}
    assert "at_work (<string>:" in site.run("jobs", "stacks", job)
    flag.touch()
    site.wait_for_phase(job, "Failed")
    summary = site.job(job)["status"]["failure"]["summary"]
    assert summary.startswith("node-0 hung: no report and no line of a log for ")
    assert "it is in stuck (<string>:12)" in summary


def test_a_deleted_job_leaves_nothing(site: SlurmSite) -> None:
    job = site.submit("--on", ON, "--name", "gone", "--", "sleep", "1000")
    site.wait_for_phase(job, "Running")
    assert site.folder(job).is_dir()
    site.run("jobs", "delete", job)
    assert not site.folder(job).exists()
    site.slurm.wait_until_empty()


def test_folders_that_are_not_needed_go(
    slurm_cluster: SlurmCluster, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with site_of(slurm_cluster, tmp_path_factory.mktemp("retention")) as site:
        settings = site.home / "config.yaml"
        settings.write_text(settings.read_text() + "retention: {days: 0.000001}\n")
        script = "echo said; echo made >$TRAINWAY_OUTPUT_DIR/file"
        job = site.submit("--on", ON, "--name", "old", "--", "sh", "-c", script)
        site.run("jobs", "wait", job)
        site.run("server", "stop")
        running = site.submit("--on", ON, "--name", "runs", "--", "sleep", "1000")
        until(lambda: not site.folder(job).exists(), "its folder is still there")
        site.wait_for_phase(running, "Running")
        assert site.folder(running).is_dir()
        assert "| said\n" in site.run("jobs", "logs", job)
        assert (site.home / "jobs" / job / "output" / "file").read_text() == "made\n"
        site.run("jobs", "delete", job)


def test_doctor_tells_what_there_is(site: SlurmSite) -> None:
    printed = site.run("doctor", "--any")
    assert "slurm/test" in printed
    assert "version 22." in printed


def test_nodes_and_partitions_are_those_of_slurm(site: SlurmSite) -> None:
    nodes = site.post("/backends/nodes", {"backend": ON})
    assert nodes["problem"] == ""
    assert {node["name"] for node in nodes["nodes"]} == {node.name for node in site.slurm.nodes}
    assert all(node["cpus"] > 0 and node["memory"] > 0 for node in nodes["nodes"])
    never = site.submit("--on", ON, "--name", "held", "--slurm", "begin=now+1day", "--", "true")
    until(lambda: site.phase(never) == "Queued", "the job does not wait")
    (waiting,) = [
        waiter
        for queue in site.post("/backends/queues", {"backend": ON})["queues"]
        for waiter in queue["waiting"]
        if queue["name"] == "main" and waiter["reason"] == "BeginTime"
    ]
    assert waiting["position"] >= 1
    site.run("jobs", "delete", never)


def test_explain_takes_options_too(site: SlurmSite) -> None:
    printed = site.run("explain", "--on", ON, "--slurm", "qos=high", "-f", "examples/task.yaml")
    assert "#SBATCH --qos=high\n" in printed


def test_partitions_are_asked_whether_a_job_fits(site: SlurmSite) -> None:
    found = json.loads(site.run("plan", "-o", "json", "--on", f"{ON},local", "--", "hostname"))
    assert found["chosen"] == ON
    (offer, *_) = found["offers"]
    assert (offer["fit"], offer["ahead"]) == ("now", 0)
    assert offer["reason"].startswith("all of it fits on ")
