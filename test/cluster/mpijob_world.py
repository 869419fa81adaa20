"""The surroundings of MPIJobs in tests: CRDs, and a namespace with a controller."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

import pytest
from cluster.access import Access

from trainway.json_types import Json
from trainway.operator.mpijobs.testing_cluster import Stage, stage

Play = Callable[[Stage], Awaitable[None]]
Run = Callable[[Play], None]

MULTIKUEUE: Final = "kueue.x-k8s.io/multikueue"


@pytest.fixture(scope="package")
def mpijob_cluster(api_cluster: Access) -> Access:
    """A cluster with our kinds and JobSet's."""
    api_cluster.install_jobset_crds()
    api_cluster.install_our_crds()
    return api_cluster


@pytest.fixture
def on_stage(mpijob_cluster: Access, namespace: str) -> Run:
    """Runs a scenario in a namespace that has a controller."""

    async def run(play: Play) -> None:
        async with stage(mpijob_cluster.kubeconfig, namespace) as here:
            await play(here)

    return lambda play: asyncio.run(run(play))


def conditions(job: Json) -> set[tuple[str, str, str]]:
    """The conditions of a job, without their times."""
    return {
        (each["type"], each["status"], each["reason"])
        for each in job.get("status", {}).get("conditions", [])
    }


def has(type_: str, status: str = "True") -> Callable[[Json], bool]:
    """Whether a job has a condition."""
    return lambda job: (type_, status) in {each[:2] for each in conditions(job)}


def suspended(job: Json) -> bool:
    """Whether a JobSet is suspended."""
    return bool(job["spec"].get("suspend"))


def is_owned(child: Json, job: Json) -> bool:
    """Whether a child belongs to the job."""
    (owner,) = child["metadata"]["ownerReferences"]
    return bool(owner["uid"] == job["metadata"]["uid"] and owner["controller"])


def policy(**fields: Any) -> Json:
    """A change of the run policy."""
    return {"spec": {"runPolicy": fields}}
