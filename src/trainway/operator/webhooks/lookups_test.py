import asyncio
from collections.abc import Sequence

from trainway.api.trainjob import TrainJob
from trainway.json_types import Json
from trainway.kube.errors import ObjectNotFound
from trainway.kube.resources import Resource
from trainway.operator.trainjobs.runtime_snapshot import runtime_text, snapshot
from trainway.operator.webhooks.lookups import Lookups
from trainway.operator.webhooks.parsing import parsed
from trainway.operator.webhooks.review import Question
from trainway.operator.webhooks.testing import creation, patch_of, runtime, trainjob, update
from trainway.operator.webhooks.trainjob import Facts

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


def lookups(objects: Objects, clock: Sequence[float] = ()) -> Lookups:
    """The clock stands still if it is not given."""
    times = iter(clock)
    return Lookups(objects, lambda: next(times, 0.0))


def ask(found: Lookups, question: Question) -> Facts:
    job = parsed(question.object, TrainJob)
    assert isinstance(job, TrainJob)
    return asyncio.run(found.facts(question, job))


def num_nodes(facts: Facts) -> int | None:
    assert facts.runtime is not None
    assert facts.runtime.spec.ml_policy is not None
    return facts.runtime.spec.ml_policy.num_nodes


def test_a_job_is_judged_by_its_runtime_as_it_is_at_that_moment() -> None:
    objects = Objects(runtime(mlPolicy={"numNodes": 3}))
    found = lookups(objects)
    assert [num_nodes(ask(found, creation(trainjob()))) for _ in range(2)] == [3, 3]
    newer = runtime(mlPolicy={"numNodes": 7})
    newer["metadata"]["resourceVersion"] = "2"
    objects.objects[CLUSTER, "torch"] = newer
    assert num_nodes(ask(found, creation(trainjob()))) == 7
    assert objects.read == [f"{CLUSTER}/torch"] * 3


def test_a_version_of_a_runtime_is_parsed_once() -> None:
    found = lookups(Objects(runtime()))
    first, second = (ask(found, creation(trainjob())) for _ in range(2))
    assert first.runtime is second.runtime


def test_questions_of_one_moment_share_a_read() -> None:
    objects = Objects(runtime())
    found, question = lookups(objects), creation(trainjob())

    async def ask_often() -> None:
        job = TrainJob.parse(question.object)
        await asyncio.gather(*(found.facts(question, job) for _ in range(20)))

    asyncio.run(ask_often())
    assert objects.read == [f"{CLUSTER}/torch"]


def test_no_runtime_is_no_fact() -> None:
    assert ask(lookups(Objects()), creation(trainjob())) == Facts()


def snapshot_of(job: Json, obj: Json) -> Json:
    metadata = TrainJob.parse(creation(job).object).metadata
    return snapshot(metadata, runtime_text(obj))


def test_d7_an_update_is_judged_by_the_snapshot() -> None:
    job = trainjob()
    objects = Objects(snapshot_of(job, runtime(mlPolicy={"numNodes": 5})), runtime())
    facts = ask(lookups(objects), update(job, trainjob(trainer={"numNodes": 2})))
    assert num_nodes(facts) == 5
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
