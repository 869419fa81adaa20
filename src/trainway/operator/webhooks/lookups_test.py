import asyncio
from collections.abc import Sequence
from typing import Any

from trainway.api.trainjob import TrainJob
from trainway.kube.errors import ObjectNotFound
from trainway.kube.resources import Resource
from trainway.operator.trainjobs.runtime_snapshot import runtime_text, snapshot
from trainway.operator.webhooks.lookups import Lookups
from trainway.operator.webhooks.parsing import parsed
from trainway.operator.webhooks.review import Question
from trainway.operator.webhooks.testing import creation, patch_of, runtime, trainjob, update
from trainway.operator.webhooks.trainjob import Facts

Json = dict[str, Any]
CLUSTER = "ClusterTrainingRuntime"


class Objects:
    """Objects that can be read, and which of them were."""

    def __init__(self, *objects: Json) -> None:
        self.objects = {(obj["kind"], obj["metadata"]["name"]): obj for obj in objects}
        self.read: list[str] = []

    async def get(self, resource: Resource, name: str, namespace: str = "") -> Json:
        assert bool(namespace) == resource.namespaced
        self.read.append(f"{resource.kind}/{name}")
        try:
            return self.objects[resource.kind, name]
        except KeyError:
            raise ObjectNotFound(f"{name} not found") from None


def lookups(objects: Objects, *known: Json, clock: Sequence[float] = ()) -> Lookups:
    """With a cache that knows some runtimes; the clock stands still if it is not given."""
    times = iter(clock)
    stores = {
        kind: {obj["metadata"]["name"]: obj for obj in known if obj["kind"] == kind}
        for kind in (CLUSTER, "TrainingRuntime")
    }
    return Lookups(objects, stores, lambda: next(times, 0.0))


def ask(found: Lookups, question: Question, *, live: bool = False) -> Facts:
    job = parsed(question.object, TrainJob)
    assert isinstance(job, TrainJob)
    return asyncio.run(found.facts(question, job, live=live))


def test_a_runtime_that_no_watch_has_seen_yet_is_read_live() -> None:
    objects = Objects(runtime())
    found = lookups(objects)
    for _ in range(2):
        facts = ask(found, creation(trainjob()))
        assert facts.runtime is not None
        assert not facts.from_cache
    assert objects.read == [f"{CLUSTER}/torch"] * 2


def test_a_runtime_is_read_once_per_version() -> None:
    objects, old, new = Objects(runtime()), runtime(), runtime(mlPolicy={"numNodes": 7})
    new["metadata"]["resourceVersion"] = "2"
    store = {"torch": old}
    found = Lookups(objects, {CLUSTER: store})
    assert [ask(found, creation(trainjob())).from_cache for _ in range(3)] == [False, True, True]
    objects.objects[CLUSTER, "torch"] = new
    live = ask(found, creation(trainjob()), live=True)
    assert live.runtime is not None
    assert live.runtime.spec.ml_policy is not None
    assert live.runtime.spec.ml_policy.num_nodes == 7
    store["torch"] = new
    assert ask(found, creation(trainjob())).from_cache
    assert len(objects.read) == 2


def test_no_runtime_is_no_fact() -> None:
    assert ask(lookups(Objects()), creation(trainjob())) == Facts()


def snapshot_of(job: Json, obj: Json) -> Json:
    metadata = TrainJob.parse(creation(job).object).metadata
    return snapshot(metadata, runtime_text(obj))


def test_d7_an_update_is_judged_by_the_snapshot() -> None:
    job = trainjob()
    objects = Objects(snapshot_of(job, runtime(mlPolicy={"numNodes": 5})), runtime())
    facts = ask(lookups(objects), update(job, trainjob(trainer={"numNodes": 2})))
    assert facts.runtime is not None
    assert facts.runtime.spec.ml_policy is not None
    assert facts.runtime.spec.ml_policy.num_nodes == 5
    assert objects.read == ["ConfigMap/job-runtime-snapshot"]


def test_the_snapshot_of_an_earlier_job_of_that_name_does_not_count() -> None:
    job = trainjob()
    earlier = trainjob()
    earlier["metadata"]["uid"] = "another"
    objects = Objects(snapshot_of(earlier, runtime(mlPolicy={"numNodes": 5})), runtime())
    facts = ask(lookups(objects), update(job, trainjob(trainer={"numNodes": 2})))
    assert facts.runtime is not None
    assert objects.read[-1] == f"{CLUSTER}/torch"


def test_a_snapshot_that_cannot_be_read_is_a_problem() -> None:
    job = trainjob()
    config_map = snapshot_of(job, runtime())
    config_map["data"] = {}
    facts = ask(lookups(Objects(config_map)), update(job, trainjob(trainer={})))
    assert str(facts.problem) == (
        'spec.runtimeRef: Invalid value: "torch": invalid runtime snapshot: snapshot ConfigMap'
        ' missing "runtime" data key'
    )


def test_the_jobset_is_read_only_when_patches_change() -> None:
    status = {"replicatedJobsStatus": [{"name": "a", "active": 1}, {"name": "b", "active": 0}]}
    objects = Objects({"kind": "JobSet", "metadata": {"name": "job"}, "status": status}, runtime())
    new = trainjob(runtimePatches=[patch_of("a.io/x")])
    assert ask(lookups(objects), update(trainjob(), new)).active_jobs == ("a",)
    assert ask(lookups(objects), update(trainjob(), trainjob(trainer={}))).active_jobs == ()
    assert objects.read.count("JobSet/job") == 1


def test_priority_classes_are_asked_for_where_volcano_needs_them_and_remembered() -> None:
    volcano = runtime(podGroupPolicy={"volcano": {}})
    pod = volcano["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    pod["spec"]["priorityClassName"] = "high"
    objects = Objects({"kind": "PriorityClass", "metadata": {"name": "high"}}, volcano)
    found = lookups(objects, clock=[0.0, 29.0, 31.0])
    for _ in range(3):
        facts = ask(found, creation(trainjob()))
        assert facts.priority_classes == {"high"}
    assert objects.read.count("PriorityClass/high") == 2
