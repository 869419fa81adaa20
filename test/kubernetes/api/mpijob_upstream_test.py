"""The MPIJob controller on a cluster with the CRD of MPI Operator in place of ours."""

import asyncio
from typing import Any

import pytest
from cluster.access import Access

from trainway.json_types import Json
from trainway.kube.resources import JOBSETS, MPIJOBS
from trainway.operator.mpijobs.testing import mpijob
from trainway.operator.mpijobs.testing_cluster import Stage, stage


def reasons(job: Json) -> dict[str, tuple[str, str]]:
    conditions = job.get("status", {}).get("conditions", [])
    return {each["type"]: (each["status"], each["reason"]) for each in conditions}


def test_a_job_is_suspended_resumed_and_completed(upstream_cluster: Access) -> None:
    async def play(here: Stage) -> None:
        await here.submit(mpijob(run_policy={"suspend": True, "cleanPodPolicy": "Running"}))
        await here.until(MPIJOBS, "pi", lambda job: "Suspended" in reasons(job))
        await here.change(MPIJOBS, "pi", {"spec": {"runPolicy": {"suspend": False}}})
        await here.until(JOBSETS, "pi", lambda jobset: not jobset["spec"]["suspend"])
        jobs = await here.play_jobs()
        await here.play_running(jobs)
        await here.until(MPIJOBS, "pi", lambda job: reasons(job)["Running"][0] == "True")
        await here.play_end(jobs, "Complete")
        told = await here.until(MPIJOBS, "pi", lambda job: "Succeeded" in reasons(job))
        assert reasons(told) == {
            "Created": ("True", "MPIJobCreated"),
            "Suspended": ("False", "MPIJobResumed"),
            "Running": ("False", "MPIJobRunning"),
            "Succeeded": ("True", "MPIJobSucceeded"),
        }
        assert told["status"]["replicaStatuses"] == {"Launcher": {"succeeded": 1}, "Worker": {}}

    asyncio.run(on_stage(upstream_cluster, "whole", play))


@pytest.mark.parametrize(
    ("field", "value"), [("launcherCreationPolicy", "Never"), ("slotsPerWorker", -1)]
)
def test_what_upstreams_crd_lets_through_is_told_of(
    upstream_cluster: Access, field: str, value: Any
) -> None:
    async def play(here: Stage) -> None:
        await here.submit(mpijob(**{field: value}))
        event = await here.event("ValidationError")
        assert event["message"].startswith(f"Found validation errors: spec.{field}:")

    asyncio.run(on_stage(upstream_cluster, field.lower(), play))


async def on_stage(cluster: Access, namespace: str, play: Any) -> None:
    cluster.create_namespace(namespace)
    async with stage(cluster.kubeconfig, namespace) as here:
        await play(here)
