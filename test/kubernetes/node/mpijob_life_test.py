"""MPIJobs with real pods: what depends on JobSet's own rules and on Kubernetes' Jobs."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from cluster.access import Access
from cluster.images import BUSYBOX

from trainway.compiler.mpijob import ROLE_LABEL
from trainway.kube.resources import CONFIG_MAPS, JOBSETS, MPIJOBS, PODS
from trainway.operator.mpijobs.roles import INDEX_LABEL
from trainway.operator.mpijobs.testing import mpijob
from trainway.operator.mpijobs.testing_cluster import Stage, stage

Json = dict[str, Any]
Play = Callable[[Stage], Awaitable[None]]
Run = Callable[[Play], None]

_PATIENCE_S = 60.0
_WAIT = "trap 'exit 0' TERM; while :; do sleep 0.1; done"


@pytest.fixture(scope="module", autouse=True)
def _kinds(node_cluster: Access) -> None:
    node_cluster.install_our_crds()


@pytest.fixture
def on_stage(node_cluster: Access, namespace: str) -> Run:
    """Runs a scenario in a namespace that has a controller."""

    async def run(play: Play) -> None:
        async with stage(node_cluster.kubeconfig, namespace, patience=_PATIENCE_S) as here:
            await play(here)

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


async def pods(here: Stage, role: str) -> list[Json]:
    selector = f"{ROLE_LABEL}={role}"
    return (await here.client.list(PODS, here.namespace, label_selector=selector)).items


async def until_running(here: Stage, role: str, indexes: set[str]) -> list[Json]:
    """Wait until exactly these pods of a role are there and run."""
    async with asyncio.timeout(_PATIENCE_S):
        while True:
            found = await pods(here, role)
            running = {
                pod["metadata"]["labels"][INDEX_LABEL]
                for pod in found
                if pod["status"]["phase"] == "Running"
            }
            if len(found) == len(indexes) and running == indexes:
                return found
            await asyncio.sleep(0.1)


async def until_none(here: Stage, role: str) -> None:
    """Wait until no pod of a role is left."""
    async with asyncio.timeout(_PATIENCE_S):
        while await pods(here, role):
            await asyncio.sleep(0.1)


def uids(found: list[Json]) -> set[str]:
    return {pod["metadata"]["uid"] for pod in found}


def test_workers_come_and_go_while_the_job_runs(on_stage: Run) -> None:
    async def play(here: Stage) -> None:
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

    on_stage(play)


def admitted(selector: Json | None, *, suspend: bool) -> Json:
    """What Kueue writes when it admits a job, or takes it back."""
    roles = {
        role: {"template": {"spec": {"nodeSelector": selector}}} for role in ("Launcher", "Worker")
    }
    return {"spec": {"mpiReplicaSpecs": roles, "runPolicy": {"suspend": suspend}}}


def test_admitted_taken_back_and_admitted_elsewhere(on_stage: Run) -> None:
    async def play(here: Stage) -> None:
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

    on_stage(play)


def test_what_jobset_does_not_let_change_changes_while_suspended(on_stage: Run) -> None:
    async def play(here: Stage) -> None:
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

    on_stage(play)


def test_a_launcher_waits_for_its_workers_and_takes_them_along(on_stage: Run) -> None:
    async def play(here: Stage) -> None:
        waits = {"launcherCreationPolicy": "WaitForWorkersReady"}
        policy = {"cleanPodPolicy": "All", "ttlSecondsAfterFinished": 6}
        await here.submit(job(launcher="sleep 1", run_policy=policy, **waits))
        told = await here.until(MPIJOBS, "pi", has("Succeeded"))
        assert told["status"]["replicaStatuses"] == {"Launcher": {"succeeded": 1}, "Worker": {}}
        assert told["status"]["startTime"]
        await until_none(here, "worker")
        (launcher,) = await pods(here, "launcher")
        assert launcher["status"]["phase"] == "Succeeded"
        await here.until_gone(JOBSETS, "pi")
        await until_none(here, "launcher")
        assert has("Succeeded")(await here.until(MPIJOBS, "pi"))

    on_stage(play)
