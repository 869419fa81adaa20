from datetime import UTC, datetime

import pytest

from trainway.json_types import Json
from trainway.kube.client import Client
from trainway.kube.connection import Connection, Endpoint
from trainway.kube.credentials import Credentials
from trainway.kube.informers import Informers
from trainway.kube.resources import (
    CLUSTER_TRAINING_RUNTIMES,
    COSCHEDULING_POD_GROUPS,
    TRAINING_RUNTIMES,
)
from trainway.operator import caches
from trainway.operator.trainjobs.children import Sent
from trainway.operator.trainjobs.memory import Memory
from trainway.operator.trainjobs.watches import Watches


class NoCredentials:
    """Nobody is asked in these tests: objects are put into the informers by hand."""

    async def fetch(self) -> Credentials:
        raise AssertionError


class World:
    """Informers, and the keys that were queued since somebody last asked."""

    def __init__(self) -> None:
        self.informers = Informers(Client(Connection(Endpoint("https://nowhere"), NoCredentials())))
        self.memory = Memory()
        self.trainjobs = caches.trainjobs(self.informers)
        self._added: list[str] = []
        self._fresh: list[str] = []
        self.watches = Watches(self._add, self.memory, self.trainjobs)
        self.trainjobs.add_handler(self.watches.on_trainjob)

    def _add(self, key: str, *, fresh: bool = True) -> None:
        self._added.append(key)
        if fresh:
            self._fresh.append(key)

    def fresh(self) -> list[str]:
        return self._fresh

    def queued(self) -> list[str]:
        found, self._added[:] = list(self._added), []
        return found


@pytest.fixture
def world() -> World:
    return World()


def job(name: str = "t", *, suspend: bool = False, runtime: str = "r", end: str = "") -> Json:
    conditions = [{"type": end, "status": "True"}] if end else []
    return {
        "metadata": {"name": name, "namespace": "ns", "uid": f"U-{name}"},
        "spec": {"runtimeRef": {"name": runtime}, "suspend": suspend},
        "status": {"conditions": conditions},
    }


def child(name: str, owner: str = "t", version: str = "1", kind: str = "TrainJob") -> Json:
    reference = {"kind": kind, "name": owner, "uid": f"U-{owner}", "controller": True}
    metadata: Json = {"name": name, "namespace": "ns", "uid": f"C-{name}"}
    metadata |= {"resourceVersion": version, "ownerReferences": [reference]}
    return {"metadata": metadata}


def jobset(end: str = "", owner: str = "t") -> Json:
    conditions = [{"type": end, "status": "True"}] if end else []
    return {**child("t", owner), "spec": {}, "status": {"conditions": conditions}}


def test_a_trainjob_is_looked_at_whatever_happens_to_it(world: World) -> None:
    world.trainjobs.put(job())
    world.trainjobs.put(job(suspend=True))
    world.trainjobs.remove(job())
    assert world.queued() == ["ns/t"] * 3


def test_after_a_start_new_trainjobs_go_before_old_ones(world: World) -> None:
    old, new = job("old", end="Complete"), job("new")
    del new["status"]
    world.trainjobs.put(old)
    world.trainjobs.put(new)
    assert (world.queued(), world.fresh()) == (["ns/old", "ns/new"], ["ns/new"])


def test_a_jobset_leads_to_its_trainjob(world: World) -> None:
    jobsets = caches.jobsets(world.informers)
    jobsets.add_handler(world.watches.on_jobset)
    jobsets.put(jobset())
    assert world.queued() == []  # there is no such TrainJob
    world.trainjobs.put(job())
    world.queued()
    jobsets.put(jobset("Completed"))
    assert world.queued() == ["ns/t"]
    jobsets.remove(jobset())
    assert world.queued() == ["ns/t"]


def test_the_end_of_a_jobset_that_is_deleted_is_remembered(world: World) -> None:
    jobsets = caches.jobsets(world.informers)
    jobsets.add_handler(world.watches.on_jobset)
    world.trainjobs.put(job())
    jobsets.put(jobset())
    jobsets.remove(jobset())
    assert world.memory.end("ns/t") is None
    jobsets.put(jobset("Completed"))
    jobsets.remove(jobset())
    end = world.memory.end("ns/t")
    assert end is not None
    assert end["status"]["conditions"] == [{"type": "Completed", "status": "True"}]
    world.trainjobs.put(job(end="Complete"))
    assert world.memory.end("ns/t") is None


def test_the_end_of_a_jobset_of_somebody_else_is_not(world: World) -> None:
    jobsets = caches.jobsets(world.informers)
    jobsets.add_handler(world.watches.on_jobset)
    jobsets.put(jobset("Completed"))
    jobsets.remove(jobset())
    assert world.memory.end("ns/t") is None  # its TrainJob is gone
    world.trainjobs.put(job())
    jobsets.put(jobset("Completed", owner="other"))
    jobsets.remove(jobset())
    assert world.memory.end("ns/t") is None


def test_a_child_leads_to_its_trainjob_once_it_is_changed_or_gone(world: World) -> None:
    maps = caches.config_maps(world.informers)
    maps.add_handler(world.watches.on_child("ConfigMap"))
    world.trainjobs.put(job())
    note = world.memory.note("ns/t", "U-t")
    now = datetime(2026, 1, 1, tzinfo=UTC)
    note.sent["ConfigMap", "t-mpi-hostfile"] = Sent("C-t-mpi-hostfile", "1", 0, b"", now)
    world.queued()
    maps.put(child("t-mpi-hostfile"))
    assert world.queued() == []
    maps.put(child("t-mpi-hostfile", version="2"))
    assert world.queued() == ["ns/t"]
    maps.remove(child("t-mpi-hostfile"))
    assert (world.queued(), note.sent) == (["ns/t"], {})
    maps.put(child("m-config", kind="MPIJob"))
    maps.remove(child("m-config", kind="MPIJob"))
    assert world.queued() == []


def test_pod_groups_are_children_too(world: World) -> None:
    groups = caches.pod_groups(world.informers, COSCHEDULING_POD_GROUPS)
    groups.add_handler(world.watches.on_child("PodGroup"))
    world.trainjobs.put(job())
    world.queued()
    groups.put(child("t"))
    groups.remove(child("t"))
    assert world.queued() == ["ns/t"]


def test_a_limit_range_leads_to_the_suspended_jobs_of_its_namespace(world: World) -> None:
    ranges = caches.limit_ranges(world.informers)
    ranges.add_handler(world.watches.on_limit_range)
    world.trainjobs.put(job("held", suspend=True))
    world.trainjobs.put(job("runs"))
    world.trainjobs.put(job("done", suspend=True, end="Complete"))
    world.queued()
    ranges.put({"metadata": {"name": "limits", "namespace": "ns"}})
    assert world.queued() == ["ns/held"]
    ranges.put({"metadata": {"name": "limits", "namespace": "elsewhere"}})
    assert world.queued() == []


def test_a_runtime_class_leads_to_the_suspended_jobs_that_use_it(world: World) -> None:
    resources = (TRAINING_RUNTIMES, CLUSTER_TRAINING_RUNTIMES)
    runtimes = {each.kind: caches.runtimes(world.informers, each) for each in resources}
    classes = caches.runtime_classes(world.informers)
    classes.add_handler(world.watches.on_runtime_class(runtimes))
    pod = {"spec": {"template": {"spec": {"runtimeClassName": "gvisor"}}}}
    spec = {"template": {"spec": {"replicatedJobs": [{"name": "node", "template": pod}]}}}
    runtimes["ClusterTrainingRuntime"].put({"metadata": {"name": "r"}, "spec": spec})
    runtimes["ClusterTrainingRuntime"].put({"metadata": {"name": "plain"}, "spec": {}})
    world.trainjobs.put(job("held", suspend=True))
    world.trainjobs.put(job("runs"))
    world.trainjobs.put(job("other", suspend=True, runtime="plain"))
    world.queued()
    classes.put({"metadata": {"name": "gvisor"}})
    assert world.queued() == ["ns/held"]
    classes.put({"metadata": {"name": "kata"}})
    assert world.queued() == []


def test_a_runtime_leads_to_the_jobs_that_wait_for_it(world: World) -> None:
    runtimes = caches.runtimes(world.informers, CLUSTER_TRAINING_RUNTIMES)
    runtimes.add_handler(world.watches.on_runtime("ClusterTrainingRuntime"))
    world.memory.wait_for_runtime("ClusterTrainingRuntime:r", "ns/t")
    runtimes.put({"metadata": {"name": "other"}})
    assert world.queued() == []
    runtimes.put({"metadata": {"name": "r"}})
    assert world.queued() == ["ns/t"]
    runtimes.remove({"metadata": {"name": "r"}})
    assert world.queued() == []
