"""The objects of MPIJobs on a real API server: they follow the job, and only what is ours does."""

import asyncio
import copy
from dataclasses import replace
from functools import partial

import pytest
from cluster.access import Access
from mpijob_world import MULTIKUEUE, Run, has, is_owned

from trainway.json_types import Json
from trainway.kube.informer import Informer
from trainway.kube.resources import (
    CONFIG_MAPS,
    EVENTS,
    JOBS,
    JOBSETS,
    MPIJOBS,
    SECRETS,
    Resource,
)
from trainway.kube.store import Store
from trainway.operator.config import OperatorConfig
from trainway.operator.mpijobs.controller import Reconciler
from trainway.operator.mpijobs.testing import mpijob
from trainway.operator.mpijobs.testing_cluster import Stage, running_controller, stage
from trainway.operator.mpijobs.watches import Watches


def has_pods(count: int, job: Json) -> bool:
    return bool(job["spec"]["completions"] == count)


def has_hosts(count: int, config: Json) -> bool:
    return len(config["data"]["hostfile"].splitlines()) == count


def test_workers_are_scaled_and_the_hosts_follow(on_stage: Run) -> None:
    async def play(here: Stage) -> None:
        await here.submit(mpijob(runLauncherAsWorker=True))
        jobs = await here.play_jobs()
        await here.play_running(jobs)
        await here.until(MPIJOBS, "pi", has("Running"))
        jobset = await here.until(JOBSETS, "pi")
        for replicas in (3, 1):
            change = {"mpiReplicaSpecs": {"Worker": {"replicas": replicas}}}
            await here.change(MPIJOBS, "pi", {"spec": change})
            job = await here.until(JOBS, "pi-worker-0", partial(has_pods, replicas))
            assert job["spec"]["parallelism"] == replicas
            await here.until(CONFIG_MAPS, "pi-config", partial(has_hosts, replicas + 1))
        same = await here.until(JOBSETS, "pi")
        assert same["metadata"]["generation"] == jobset["metadata"]["generation"]

    on_stage(play)


def test_the_script_follows_the_pods_and_a_changed_file_is_repaired(on_stage: Run) -> None:
    async def play(here: Stage) -> None:
        await here.submit(mpijob())
        jobs = await here.play_jobs()
        config = await here.until(CONFIG_MAPS, "pi-config")
        script = "discover_hosts.sh"
        assert config["data"][script] == "#!/bin/sh\n"
        await here.play_pod(jobs["worker"], 1, "Running")
        host = f"pi-worker-0-1.pi.{here.namespace}.svc"
        config = await here.until(
            CONFIG_MAPS,
            "pi-config",
            lambda found: found["data"][script] == f"#!/bin/sh\necho {host}\n",
        )
        await here.change(CONFIG_MAPS, "pi-config", {"data": {"hostfile": "mine", script: None}})
        repaired = await here.until(
            CONFIG_MAPS, "pi-config", lambda found: found["data"] == config["data"]
        )
        await here.client.delete(CONFIG_MAPS, "pi-config", here.namespace)
        again = await here.until(
            CONFIG_MAPS,
            "pi-config",
            lambda found: found["metadata"]["uid"] != repaired["metadata"]["uid"],
        )
        assert again["data"] == config["data"]

    on_stage(play)


@pytest.mark.parametrize(
    ("resource", "name"), [(SECRETS, "pi-ssh"), (JOBSETS, "pi")], ids=["Secret", "JobSet"]
)
def test_a_child_that_is_deleted_comes_back(on_stage: Run, resource: Resource, name: str) -> None:
    async def play(here: Stage) -> None:
        await here.submit(mpijob())
        first = await here.until(resource, name)
        await here.client.delete(resource, name, here.namespace)
        second = await here.until(
            resource, name, lambda found: found["metadata"]["uid"] != first["metadata"]["uid"]
        )
        assert second["metadata"]["ownerReferences"] == first["metadata"]["ownerReferences"]

    on_stage(play)


@pytest.mark.parametrize(
    ("resource", "name", "content"),
    [
        (SECRETS, "pi-ssh", {"data": {}}),
        (CONFIG_MAPS, "pi-config", {"data": {"mine": "1"}}),
        (JOBSETS, "pi", {"spec": {"replicatedJobs": []}}),
    ],
    ids=["Secret", "ConfigMap", "JobSet"],
)
def test_what_is_not_ours_is_left_alone(
    on_stage: Run, resource: Resource, name: str, content: Json
) -> None:
    async def play(here: Stage) -> None:
        head = {"apiVersion": resource.api_version, "kind": resource.kind}
        foreign = head | {"metadata": {"name": name}} | content
        before = await here.client.create(resource, foreign, here.namespace)
        await here.settled()  # it is seen
        await here.submit(mpijob())
        event = await here.event("ErrResourceExists")
        assert event["type"] == "Warning"
        assert event["message"] == (
            f'Resource "{name}" of Kind "{resource.kind}" already exists'
            " and is not managed by MPIJob"
        )
        after = await here.until(resource, name)
        assert after["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]
        await here.client.delete(resource, name, here.namespace)
        await here.until(MPIJOBS, "pi", has("Created"))

    on_stage(play)


def test_what_an_earlier_job_left_is_waited_for(on_stage: Run) -> None:
    async def play(here: Stage) -> None:
        await here.submit(mpijob())
        old = await here.until(JOBSETS, "pi")
        await here.client.delete(MPIJOBS, "pi", here.namespace)  # nobody collects its children
        job = await here.submit(mpijob())
        await here.settled()
        assert "status" not in await here.until(MPIJOBS, "pi")
        for resource, name in ((JOBSETS, "pi"), (SECRETS, "pi-ssh"), (CONFIG_MAPS, "pi-config")):
            await here.client.delete(resource, name, here.namespace)
        new = await here.until(JOBSETS, "pi")
        assert new["metadata"]["uid"] != old["metadata"]["uid"]
        assert is_owned(new, job)
        events = (await here.client.list(EVENTS, here.namespace)).items
        assert "ErrResourceExists" not in {event["reason"] for event in events}

    on_stage(play)


def test_a_second_controller_changes_nothing(mpijob_cluster: Access, namespace: str) -> None:
    async def play() -> None:
        async with stage(mpijob_cluster.kubeconfig, namespace) as here:
            await here.submit(mpijob())
            await here.submit(mpijob("held", run_policy={"suspend": True}))
            jobs = await here.play_jobs()
            await here.play_running(jobs)
            await here.until(MPIJOBS, "pi", has("Running"))
            await here.until(MPIJOBS, "held", has("Suspended"))
            before = await versions(here)
            config = replace(OperatorConfig(), namespaces=(namespace,))
            async with running_controller(here.client, config) as second:
                await here.settled()
                await second.mpi_recorder.flush(here.patience)
                assert await versions(here) == before

    asyncio.run(play())


def test_what_is_derived_from_old_news_is_not_written(on_stage: Run) -> None:
    async def play(here: Stage) -> None:
        managed = mpijob(run_policy={"managedBy": MULTIKUEUE})
        await here.submit(managed)  # the controller beside us leaves it alone
        await here.settled()
        store = Store()
        old = await here.until(MPIJOBS, "pi")
        old["spec"]["runPolicy"] = {}
        store.put(f"{here.namespace}/pi", old)
        await here.change(MPIJOBS, "pi", {"metadata": {"labels": {"new": "1"}}})
        watches = Watches.of(here.context)
        deaf = replace(watches, mpijobs=replace_store(watches.mpijobs, store))
        again = await Reconciler(here.context, deaf).reconcile(f"{here.namespace}/pi")
        assert again == 1.0
        assert "status" not in await here.until(MPIJOBS, "pi")
        await here.context.mpi_recorder.flush(here.patience)
        events = (await here.client.list(EVENTS, here.namespace)).items
        assert {event["involvedObject"]["name"] for event in events} == {"last"}

    on_stage(play)


def replace_store(informer: Informer, store: Store) -> Informer:
    """The same informer with other objects in it."""
    other = copy.copy(informer)
    other.store = store
    return other


async def versions(here: Stage) -> dict[tuple[str, str], str]:
    found = {}
    for resource in (MPIJOBS, JOBSETS, CONFIG_MAPS, SECRETS, JOBS):
        for obj in (await here.client.list(resource, here.namespace)).items:
            name = obj["metadata"]["name"]
            if not name.startswith("last"):
                found[resource.kind, name] = obj["metadata"]["resourceVersion"]
    return found
