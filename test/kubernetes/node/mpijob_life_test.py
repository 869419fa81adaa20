"""MPIJobs with real pods: what depends on JobSet's own rules, on Kubernetes' Jobs and on sshd."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from cluster.images import BUSYBOX, HOSTROOT
from node_operator import NodeOperator

from trainway.jobset.labels import COMPLETION_INDEX, MPI_JOB_ROLE
from trainway.json_types import Json
from trainway.kube.client import Client
from trainway.kube.connection import load_connection
from trainway.kube.resources import CONFIG_MAPS, JOBSETS, MPIJOBS, PODS
from trainway.operator.mpijobs.testing import mpijob
from trainway.operator.mpijobs.testing_cluster import Scene

Play = Callable[[Scene], Awaitable[None]]
Run = Callable[[Play], None]

_PATIENCE_S = 180.0
_WAIT = "trap 'exit 0' TERM; while :; do sleep 0.1; done"


@pytest.fixture
def on_scene(node_operator: NodeOperator, namespace: str) -> Run:
    """Runs a scenario in a namespace of its own."""

    async def run(play: Play) -> None:
        async with Client(load_connection(node_operator.cluster.kubeconfig)) as client:
            try:
                await play(Scene(client, namespace, _PATIENCE_S))
            except (AssertionError, TimeoutError) as error:
                raise AssertionError(f"{error}\n{node_operator.report(namespace)}") from error

    return lambda play: asyncio.run(run(play))


def job(launcher: str = _WAIT, worker: str = _WAIT, **more: Any) -> Json:
    """An MPIJob whose containers run these scripts."""
    obj = mpijob(**more)
    for role, script in (("Launcher", launcher), ("Worker", worker)):
        obj["spec"]["mpiReplicaSpecs"][role]["template"] = {
            "spec": {
                "terminationGracePeriodSeconds": 2,
                "containers": [{"name": "main", "image": BUSYBOX, "command": ["sh", "-c", script]}],
            }
        }
    return obj


def has(type_: str, status: str = "True") -> Callable[[Json], bool]:
    return lambda obj: any(
        (each["type"], each["status"]) == (type_, status)
        for each in obj.get("status", {}).get("conditions", [])
    )


async def pods(here: Scene, role: str) -> list[Json]:
    selector = f"{MPI_JOB_ROLE}={role}"
    return (await here.client.list(PODS, here.namespace, label_selector=selector)).items


async def until_running(here: Scene, role: str, indexes: set[str]) -> list[Json]:
    """Wait until exactly these pods of a role are there and run."""
    async with asyncio.timeout(_PATIENCE_S):
        while True:
            found = await pods(here, role)
            running = {
                pod["metadata"]["labels"][COMPLETION_INDEX]
                for pod in found
                if pod["status"]["phase"] == "Running"
            }
            if len(found) == len(indexes) and running == indexes:
                return found
            await asyncio.sleep(0.1)


async def until_none(here: Scene, role: str) -> None:
    """Wait until no pod of a role is left."""
    async with asyncio.timeout(_PATIENCE_S):
        while await pods(here, role):
            await asyncio.sleep(0.1)


def uids(found: list[Json]) -> set[str]:
    return {pod["metadata"]["uid"] for pod in found}


def test_workers_come_and_go_while_the_job_runs(on_scene: Run) -> None:
    async def play(here: Scene) -> None:
        await here.submit(job())
        first = await until_running(here, "worker", {"0", "1"})
        await here.until(MPIJOBS, "pi", has("Running"))
        await here.change(MPIJOBS, "pi", {"spec": {"mpiReplicaSpecs": {"Worker": {"replicas": 3}}}})
        second = await until_running(here, "worker", {"0", "1", "2"})
        assert {pod["metadata"]["uid"] for pod in first} < {
            pod["metadata"]["uid"] for pod in second
        }
        await here.change(MPIJOBS, "pi", {"spec": {"mpiReplicaSpecs": {"Worker": {"replicas": 1}}}})
        third = await until_running(here, "worker", {"0"})
        assert uids(third) < uids(first)
        await here.until(
            CONFIG_MAPS,
            "pi-config",
            lambda config: config["data"]["discover_hosts.sh"].count("echo") == 1,
        )

    on_scene(play)


def admitted(selector: Json | None, *, suspend: bool) -> Json:
    """What Kueue writes when it admits a job, or takes it back."""
    roles = {
        role: {"template": {"spec": {"nodeSelector": selector}}} for role in ("Launcher", "Worker")
    }
    return {"spec": {"mpiReplicaSpecs": roles, "runPolicy": {"suspend": suspend}}}


def test_admitted_taken_back_and_admitted_elsewhere(on_scene: Run) -> None:
    async def play(here: Scene) -> None:
        await here.submit(job(run_policy={"suspend": True}))
        held = await here.until(JOBSETS, "pi")
        selector = {"kubernetes.io/os": "linux"}
        await here.change(MPIJOBS, "pi", admitted(selector, suspend=False))
        for pod in await until_running(here, "worker", {"0", "1"}):
            assert pod["spec"]["nodeSelector"] == selector
        assert (await here.until(JOBSETS, "pi"))["metadata"]["uid"] == held["metadata"]["uid"]
        await here.until(MPIJOBS, "pi", has("Running"))

        await here.change(MPIJOBS, "pi", admitted(None, suspend=True))
        told = await here.until(
            MPIJOBS,
            "pi",
            lambda obj: (
                not any("active" in role for role in obj["status"]["replicaStatuses"].values())
            ),
        )
        assert has("Suspended")(told)
        assert has("Running", "False")(told)

        other = {"kubernetes.io/hostname": "node"}
        await here.change(MPIJOBS, "pi", admitted(other, suspend=False))
        for role, indexes in (("worker", {"0", "1"}), ("launcher", {"0"})):
            for pod in await until_running(here, role, indexes):
                assert pod["spec"]["nodeSelector"] == other
        await here.until(MPIJOBS, "pi", has("Running"))

    on_scene(play)


def test_what_jobset_does_not_let_change_changes_while_suspended(on_scene: Run) -> None:
    async def play(here: Scene) -> None:
        await here.submit(job(run_policy={"suspend": True}))
        await here.until(JOBSETS, "pi")
        worker = {"replicas": 1, "template": job(worker="sleep 1; exit 0")["spec"]}
        worker["template"] = job(worker="sleep 300")["spec"]["mpiReplicaSpecs"]["Worker"][
            "template"
        ]
        change = {"mpiReplicaSpecs": {"Worker": worker}, "runPolicy": {"suspend": False}}
        await here.change(MPIJOBS, "pi", {"spec": change})
        (pod,) = await until_running(here, "worker", {"0"})
        assert pod["spec"]["containers"][0]["command"][-1] == "sleep 300"
        await here.until(MPIJOBS, "pi", has("Running"))

    on_scene(play)


def test_a_launcher_waits_for_its_workers_and_takes_them_along(on_scene: Run) -> None:
    async def play(here: Scene) -> None:
        waits = {"launcherCreationPolicy": "WaitForWorkersReady"}
        policy = {"cleanPodPolicy": "All", "ttlSecondsAfterFinished": 10}
        await here.submit(job(launcher="sleep 1", run_policy=policy, **waits))
        told = await here.until(MPIJOBS, "pi", has("Succeeded"))
        assert told["status"]["replicaStatuses"] == {"Launcher": {"succeeded": 1}, "Worker": {}}
        assert told["status"]["startTime"]
        (launcher,) = await pods(here, "launcher")
        assert launcher["status"]["phase"] == "Succeeded"
        await until_none(here, "worker")
        await here.until_gone(JOBSETS, "pi")
        await until_none(here, "launcher")
        assert has("Succeeded")(await here.until(MPIJOBS, "pi"))

    on_scene(play)


def host_pod(*command: str) -> Json:
    """A pod with this machine's programs; without a command it does what a worker does."""
    container: Json = {
        "name": "main",
        "image": HOSTROOT,
        "volumeMounts": [{"name": "usr", "mountPath": "/usr", "readOnly": True}],
    }
    if command:
        container["command"] = list(command)
    usr = {"name": "usr", "hostPath": {"path": "/usr"}}
    return {"spec": {"containers": [container], "volumes": [usr]}}


def test_mpirun_starts_processes_on_the_launcher_too(
    on_scene: Run, node_operator: NodeOperator, namespace: str
) -> None:
    process = 'echo "rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE on $(hostname)"'
    obj = mpijob(slotsPerWorker=2, runLauncherAsWorker=True)
    roles = obj["spec"]["mpiReplicaSpecs"]
    command = f"mpirun --allow-run-as-root sh -c '{process}'"
    roles["Launcher"]["template"] = host_pod("sh", "-c", command)
    roles["Worker"]["template"] = host_pod()

    async def play(here: Scene) -> None:
        await here.submit(obj)
        await here.until(MPIJOBS, "pi", has("Succeeded"))

    on_scene(play)
    log = node_operator.log(namespace, f"{MPI_JOB_ROLE}=launcher")
    hosts = ("pi-launcher-0-0", "pi-worker-0-0", "pi-worker-0-1")
    assert sorted(line for line in log.splitlines() if line.startswith("rank ")) == [
        f"rank {2 * number + slot} of 6 on {host}"
        for number, host in enumerate(hosts)
        for slot in range(2)
    ]


def test_pods_that_cannot_be_created_are_told_on_the_mpijob(
    node_operator: NodeOperator, namespace: str
) -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "team"},
        "spec": {"hard": {"pods": "0"}},
    }
    blocked = job()
    name, blocked["metadata"]["namespace"] = blocked["metadata"]["name"], namespace
    node_operator.create(namespace, quota, blocked)

    def told() -> set[str]:
        return {
            str(event["message"])
            for event in node_operator.cluster.get("events", "-n", namespace)["items"]
            if event["involvedObject"]["kind"] == "MPIJob" and event["reason"] == "FailedCreate"
        }

    node_operator.wait(namespace, lambda: bool(told()), "the MPIJob has an event")
    assert all(
        re.match(
            rf"Job {name}-(launcher|worker)-0 cannot create its pods: forbidden: exceeded quota",
            message,
        )
        for message in told()
    )
