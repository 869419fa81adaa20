"""Gangs of MPIJobs on a real API server: the PodGroup comes with the start, goes with the end."""

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from cluster.access import Access
from cluster.processes import START_SECONDS, wait_until
from upstream_crds import permissive_crd

from trainway.kube.resources import (
    COSCHEDULING_POD_GROUPS,
    JOBSETS,
    MPIJOBS,
    PRIORITY_CLASSES,
    VOLCANO_POD_GROUPS,
    Resource,
)
from trainway.operator.config import OperatorConfig
from trainway.operator.mpijobs.testing import mpijob
from trainway.operator.mpijobs.testing_cluster import Stage, stage


@dataclass(frozen=True)
class Case:
    scheduler: str
    resource: Resource
    mark: tuple[str, str]
    """Where a pod names its group."""


CASES = (
    Case("volcano", VOLCANO_POD_GROUPS, ("annotations", "scheduling.k8s.io/group-name")),
    Case("gangs", COSCHEDULING_POD_GROUPS, ("labels", "scheduling.x-k8s.io/pod-group")),
)


@pytest.fixture(scope="module", autouse=True)
def _kinds(api_cluster: Access) -> None:
    api_cluster.install_jobset_crds()
    api_cluster.install_our_crds()
    for case in CASES:
        api_cluster.apply(permissive_crd(case.resource))
        assert wait_until(partial(api_cluster.serves, case.resource.path()), START_SECONDS)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.scheduler)
def test_the_life_of_a_gang(case: Case, api_cluster: Access, namespace: str) -> None:
    async def play(here: Stage) -> None:
        await here.submit(mpijob(run_policy={"suspend": True, "cleanPodPolicy": "Running"}))
        jobset = await here.until(JOBSETS, "pi")
        for role in jobset["spec"]["replicatedJobs"]:
            template = role["template"]["spec"]["template"]
            place, name = case.mark
            assert template["metadata"][place][name] == "pi"
            assert template["spec"]["schedulerName"] == case.scheduler
        assert await here.get(case.resource, "pi") is None

        await here.change(MPIJOBS, "pi", {"spec": {"runPolicy": {"suspend": False}}})
        group = await here.until(case.resource, "pi")
        assert group["spec"]["minMember"] == 3
        await here.change(case.resource, "pi", {"spec": {"minMember": 1}})
        await here.until(case.resource, "pi", lambda found: found["spec"]["minMember"] == 3)

        await here.change(MPIJOBS, "pi", {"spec": {"runPolicy": {"suspend": True}}})
        await here.until_gone(case.resource, "pi")
        await here.change(MPIJOBS, "pi", {"spec": {"runPolicy": {"suspend": False}}})
        await here.until(case.resource, "pi")
        jobs = await here.play_jobs()
        await here.play_end(jobs, "Complete")
        await here.until_gone(case.resource, "pi")

    asyncio.run(on_stage(api_cluster, namespace, case.scheduler, play))


def test_the_pods_with_the_higher_priority_are_counted(api_cluster: Access, namespace: str) -> None:
    high = f"{namespace}-high"

    async def play(here: Stage) -> None:
        obj = mpijob(run_policy={"schedulingPolicy": {"minAvailable": 1}})
        roles = obj["spec"]["mpiReplicaSpecs"]
        for role, cpu in (("Launcher", "1"), ("Worker", "4")):
            container = roles[role]["template"]["spec"]["containers"][0]
            container["resources"] = {"requests": {"cpu": cpu}}
        roles["Worker"]["template"]["spec"]["priorityClassName"] = high
        await here.submit(obj)
        group = await here.until(VOLCANO_POD_GROUPS, "pi")
        assert group["spec"] == {
            "minMember": 1,
            "minResources": {"cpu": "4"},
            "priorityClassName": high,
        }

    class_ = {
        "apiVersion": PRIORITY_CLASSES.api_version,
        "kind": PRIORITY_CLASSES.kind,
        "metadata": {"name": high},
        "value": 1000,
    }
    api_cluster.apply(class_)
    try:
        asyncio.run(on_stage(api_cluster, namespace, "volcano", play))
    finally:
        api_cluster.kubectl("delete", "priorityclass", high)


async def on_stage(cluster: Access, namespace: str, scheduler: str, play: Any) -> None:
    config = OperatorConfig(gang_scheduling=scheduler)
    async with stage(cluster.kubeconfig, namespace, config) as here:
        await play(here)
