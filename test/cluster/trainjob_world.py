"""The surroundings of TrainJobs in tests: CRDs, runtimes of their own, and an operator."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final

import pytest
from cluster.access import Access
from cluster.processes import START_SECONDS, wait_until
from upstream_crds import permissive_crd

from trainway.json_types import Json
from trainway.kube.resources import COSCHEDULING_POD_GROUPS
from trainway.operator.trainjobs.testing import Clock, Operator
from trainway.runtimes import builtin_runtime

Story = Callable[[Operator], Awaitable[None]]


class World:
    """A namespace on a cluster that has our kinds."""

    def __init__(self, cluster: Access, namespace: str) -> None:
        self.cluster = cluster
        self.namespace = namespace
        self._runtimes: list[str] = []

    def runtime(self, builtin: str) -> str:
        """A built-in runtime under a name of its own, which is given."""
        name = f"{self.namespace}-{builtin}"
        if name not in self._runtimes:
            runtime = builtin_runtime(builtin)
            assert runtime is not None
            runtime["metadata"]["name"] = name
            self.add_runtime(runtime)
        return name

    def add_runtime(self, runtime: Json) -> None:
        """Any runtime; cluster-wide ones go when the test ends."""
        self.cluster.apply(runtime)
        if runtime["kind"] == "ClusterTrainingRuntime":
            self._runtimes = list({*self._runtimes, runtime["metadata"]["name"]})

    def forget(self, name: str) -> None:
        """The test has removed the runtime itself."""
        self._runtimes.remove(name)

    def operator(self, clock: Clock | None = None, **more: Any) -> Operator:
        """An operator for the namespace."""
        return Operator(self.cluster.kubeconfig, self.namespace, clock, **more)

    def run(self, story: Story, **more: Any) -> None:
        """Run a story with an operator beside it."""

        async def whole() -> None:
            async with self.operator(**more) as operator:
                await story(operator)

        asyncio.run(whole())

    def close(self) -> None:
        """Remove what is not in the namespace."""
        if self._runtimes:
            self.cluster.kubectl("delete", "clustertrainingruntime", *self._runtimes)


@pytest.fixture(scope="package")
def trainjob_cluster(api_cluster: Access) -> Access:
    """A cluster with our kinds, JobSet's, and PodGroups."""
    api_cluster.install_jobset_crds()
    api_cluster.install_our_crds()
    api_cluster.apply(permissive_crd(COSCHEDULING_POD_GROUPS))
    assert wait_until(lambda: api_cluster.serves(COSCHEDULING_POD_GROUPS.path()), START_SECONDS)
    return api_cluster


@pytest.fixture
def world(trainjob_cluster: Access, namespace: str) -> Iterator[World]:
    """A namespace for TrainJobs."""
    world = World(trainjob_cluster, namespace)
    yield world
    world.close()


def trainjob(runtime: str, name: str = "t", spec: Json | None = None, **trainer: Any) -> Json:
    """A TrainJob; `trainer` is what its trainer says, `spec` all the rest."""
    body: Json = {"runtimeRef": {"name": runtime}, **(spec or {})}
    if trainer:
        body["trainer"] = trainer
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": name},
        "spec": body,
    }


CREATION_FAILED: Final = "TrainJobResourcesCreationFailed"
COMPLETED: Final[Json] = {
    "type": "Completed",
    "status": "True",
    "reason": "AllJobsCompleted",
    "message": "jobset completed successfully",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}


def owner_reference(job: Json) -> Json:
    """How a child names its TrainJob."""
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "name": job["metadata"]["name"],
        "uid": job["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def first_container(jobset: Json) -> Json:
    """Of a JobSet, or of the template in a runtime."""
    pod = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    container: Json = pod["spec"]["containers"][0]
    return container
