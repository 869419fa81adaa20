"""`trainway mpijob`, its plugins and the SDK with a real Kueue: jobs wait, and say why."""

from pathlib import Path

import pytest
from cluster.images import MPI
from plugin_shell import OURS, Shell, shell_in
from queueing import CPU, PRIORITY_LABEL, QUEUE, UNTIL_TOLD, Queues

from trainway.json_types import Json
from trainway.training import MPIJob, ResourceRequirements, State

WORKERS = 2
PODS = 1 + WORKERS
LAUNCHER_CPU = 100  # thousandths that every launcher asks for
QUOTA = (LAUNCHER_CPU + WORKERS * CPU) // CPU
"""Enough for one job, in the pods that `Queues` counts by."""
WORDS = (
    *("--image", MPI, "--no-mpirun", "--command", UNTIL_TOLD),
    *("--workers", str(WORKERS), "--cpu", f"{CPU}m"),
)
NO_ROOM = "insufficient unused quota for cpu in flavor"


@pytest.fixture
def shell(queues: Queues, tmp_path: Path) -> Shell:
    """A user of the queue, which has room for one job."""
    queues.add_flavor("only")
    queues.open({"only": QUOTA})
    return shell_in(queues.cluster, queues.namespace, tmp_path)


def job(queues: Queues, name: str) -> Json:
    return queues.cluster.get("mpijob", name, "-n", queues.namespace)


def queue_line(shell: Shell, name: str, program: str = OURS) -> str:
    """What `describe` says of the queue."""
    told = shell.run("describe", name, program=program).stdout
    (line,) = (line for line in told.splitlines() if line.startswith("Queue:"))
    return line.removeprefix("Queue:").strip()


def state(shell: Shell, name: str) -> str:
    _, row = shell.run("get", name, program=OURS).stdout.splitlines()
    return str(row.split()[1])


def launcher(pods: list[Json]) -> list[Json]:
    return [pod for pod in pods if "launcher" in pod["metadata"]["name"]]


def test_jobs_wait_in_line_and_say_where_and_why(shell: Shell, queues: Queues) -> None:
    queues.add_priority("high", 100)  # what is created in the same second has no order
    high = ("--label", f"{PRIORITY_LABEL}={queues.namespace}-high")
    shell.run("create", "first", *WORDS, "--queue", QUEUE, program=OURS)
    first = job(queues, "first")
    queues.wait_workload(first, "Admitted")
    shell.run("create", "second", *WORDS, *high, "--queue", QUEUE)
    shell.run("create", "third", *WORDS, "--queue", QUEUE, program="oc")
    second, third = job(queues, "second"), job(queues, "third")
    pods = queues.wait_running(first, PODS)
    for waiter in (second, third):
        queues.wait_workload(waiter, "QuotaReserved", "False", said=NO_ROOM)
        assert queues.pods(waiter) == []
    assert queue_line(shell, "first") == QUEUE
    for program in (OURS, "kubectl", "oc"):
        said = queue_line(shell, "second", program)
        assert said.startswith(f"position 1 in {QUEUE}: ")
        assert NO_ROOM in said
    assert queue_line(shell, "third").startswith(f"position 2 in {QUEUE}: ")
    assert (state(shell, "first"), state(shell, "second")) == ("Running", "Queued")

    # Whoever is taken out of the line is not counted any more, and comes back to the same place.
    shell.run("suspend", "second", program=OURS)
    assert queue_line(shell, "second") == f"suspended in {QUEUE}; resume it to let it wait again"
    assert state(shell, "second") == "Suspended"
    assert queue_line(shell, "third").startswith(f"position 1 in {QUEUE}: ")
    shell.run("resume", "second")
    queues.wait_workload(second, "QuotaReserved", "False", said=NO_ROOM)
    assert queue_line(shell, "second").startswith(f"position 1 in {QUEUE}: ")

    queues.end(launcher(pods))
    queues.operator.wait_condition("mpijob", queues.namespace, "first", "Succeeded")
    queues.wait_running(second, PODS)
    assert queues.pods(third) == []
    assert queue_line(shell, "second") == QUEUE
    assert queue_line(shell, "third").startswith(f"position 1 in {QUEUE}: ")


def test_a_running_job_that_is_suspended_gives_its_room_to_the_next(
    shell: Shell, queues: Queues
) -> None:
    held = MPIJob(
        "held",
        image=MPI,
        mpirun=False,
        command=UNTIL_TOLD,
        workers=WORKERS,
        resources=ResourceRequirements(cpu=f"{CPU}m"),
        queue=QUEUE,
        kubeconfig=shell.kubeconfig,
    )
    held.create()
    queues.wait_running(job(queues, "held"), PODS)
    shell.run("create", "next", *WORDS, "--queue", QUEUE, program=OURS)
    queues.wait_workload(job(queues, "next"), "QuotaReserved", "False", said=NO_ROOM)
    shell.run("suspend", "held", program=OURS)
    queues.wait_no_pods(job(queues, "held"))
    pods = queues.wait_running(job(queues, "next"), PODS)
    assert held.get_status().state is State.SUSPENDED
    assert queue_line(shell, "held") == f"suspended in {QUEUE}; resume it to let it wait again"

    shell.run("resume", "held", program="oc")
    queues.wait_workload(job(queues, "held"), "QuotaReserved", "False", said=NO_ROOM)
    assert held.get_status().state is State.QUEUED
    assert queue_line(shell, "held").startswith(f"position 1 in {QUEUE}: ")
    queues.end(launcher(pods))
    again = queues.wait_running(job(queues, "held"), PODS)
    queues.end(launcher(again))
    assert held.wait_for_completion(timeout=180).state is State.SUCCEEDED


def test_a_queue_that_is_not_there_is_told_at_once(shell: Shell, queues: Queues) -> None:
    made = shell.run("create", "lost", *WORDS, "--queue", "no-such", program=OURS)
    assert 'warning: there is no LocalQueue "no-such"' in made.stderr
    queues.wait_workload(job(queues, "lost"), "QuotaReserved", "False", said="doesn't exist")
    assert "LocalQueue no-such doesn't exist" in queue_line(shell, "lost")
    shell.run("delete", "lost", program=OURS)
    assert queues.cluster.find("mpijob", "lost", queues.namespace) is None
