from typing import Any

import pytest

from trainway.api.task.task_file import parse
from trainway.api.task.task_object import objects_of
from trainway.backends.base import Isolation, isolation_of
from trainway.backends.testing import FakeBackend
from trainway.engine.intake import elements
from trainway.engine.preparation import prepare
from trainway.engine.submission import Prepared, Submission
from trainway.engine.testing import jobset
from trainway.errors import InvalidError
from trainway.jobset.labels import HEALTH_CHECK, ISOLATION, JOB_GROUP, TIMEOUT_SECONDS
from trainway.json_types import Json

CONFIG: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {}}


def prepared(*objects: Json, **options: Any) -> Prepared:
    return prepare(Submission(objects, **options), FakeBackend())


def trainjob(**spec: Any) -> Json:
    ref = {"name": "torch-distributed"}
    trainer = {"numNodes": 2, "command": ["torchrun", "x.py"]}
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "train", "labels": {"a": "1", "b": "1"}},
        "spec": {"runtimeRef": ref, "trainer": trainer, **spec},
    }


def mpijob() -> Json:
    pod = {"spec": {"containers": [{"name": "main", "image": "mpi", "command": ["mpirun", "x"]}]}}
    idle = {"spec": {"containers": [{"name": "main", "image": "mpi"}]}}
    return {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {"name": "pi"},
        "spec": {
            "slotsPerWorker": 2,
            "mpiReplicaSpecs": {
                "Launcher": {"replicas": 1, "template": pod},
                "Worker": {"replicas": 2, "template": idle},
            },
        },
    }


def test_a_jobset_is_defaulted_and_keeps_its_files() -> None:
    made = prepared(CONFIG, jobset("demo", pods=2, requests={"cpu": "1"}))
    assert (made.kind, made.name, made.namespace) == ("JobSet", "demo", "default")
    assert made.companions == [CONFIG]
    assert str(made.demand.cpus) == "2"
    assert made.jobset["spec"]["successPolicy"]["operator"] == "All"
    assert made.objects[0] == CONFIG
    assert not made.is_suspended


def test_a_trainjob_finds_a_built_in_runtime_and_this_machines_network() -> None:
    made = prepared(trainjob(activeDeadlineSeconds=60), labels={"b": "2"})
    assert (made.kind, made.deadline_seconds) == ("TrainJob", 60)
    assert made.labels == {"a": "1", "b": "2"}
    pod = made.jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    env = {each["name"]: each.get("value") for each in pod["containers"][0]["env"]}
    assert (env["PET_MASTER_ADDR"], env["PET_MASTER_PORT"]) == ("127.0.0.1", str(made.port))


def test_any_kind_of_job_may_have_a_timeout() -> None:
    for job in (jobset("demo"), mpijob()):
        job["metadata"]["annotations"] = {TIMEOUT_SECONDS: "90"}
        assert prepared(job).deadline_seconds == 90
        job["metadata"]["annotations"] = {TIMEOUT_SECONDS: "2h"}
        with pytest.raises(InvalidError, match=r"metadata\.annotations\[.*\]: Invalid value"):
            prepared(job)


def test_an_mpijob_brings_its_hostfile_and_workers_that_wait() -> None:
    made = prepared(mpijob())
    files = {obj["metadata"]["name"]: obj for obj in made.companions}
    assert files["pi-config"]["data"]["hostfile"] == "127.0.0.1 slots=4\n"
    worker = made.jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    assert worker["containers"][0]["command"] == ["sleep", "infinity"]


def test_a_name_can_be_given_or_made() -> None:
    assert prepared(jobset("demo"), name="other").name == "other"
    nameless = jobset()
    nameless["metadata"] = {"generateName": "run-"}
    one, other = prepared(nameless), prepared(nameless)
    assert one.name.startswith("run-")
    assert one.name != other.name
    assert one.objects[0]["metadata"]["name"] == one.name
    assert "name" not in nameless["metadata"]


def test_ttl_and_suspend() -> None:
    made = prepared(jobset(spec={"ttlSecondsAfterFinished": 5, "suspend": True}))
    assert (made.ttl_seconds, made.is_suspended) == (5, True)


def test_other_objects_are_left_out_with_a_warning() -> None:
    made = prepared(jobset(), {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}})
    assert made.warnings == ["Service/s: v1 Service is not a job or runtime; it is left out"]


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        ([], "there is no job among the objects, only nothing"),
        ([CONFIG], "there is no job among the objects, only ConfigMap"),
        (
            [CONFIG, {**jobset(), "apiVersion": "v9"}],
            'apiVersion: Unsupported value: "v9": a JobSet has jobset.x-k8s.io/v1alpha2',
        ),
        ([jobset("a"), jobset("b")], "more than one job: JobSet/a, JobSet/b"),
        ([trainjob(managedBy="kueue.x-k8s.io/multikueue")], "belongs to another controller"),
        ([{**jobset(), "metadata": "x"}], "metadata"),
        ([{**jobset(), "spec": None}], "spec"),
    ],
)
def test_refusals(objects: list[Json], message: str) -> None:
    with pytest.raises(InvalidError, match=message):
        prepared(*objects)


def test_a_refused_job_gives_its_port_back() -> None:
    backend = FakeBackend()
    backend.problem = "no"
    with pytest.raises(InvalidError, match="JobSet/demo: no"):
        prepare(Submission([jobset()]), backend)
    assert backend.ports == set()


@pytest.mark.parametrize("options", [{"isolation": Isolation.CONTAINER}, {}])
def test_containers_are_noted_on_the_job_and_on_its_jobset(options: Json) -> None:
    metadata = {} if options else {"annotations": {ISOLATION: "container"}}
    found = prepared(jobset(metadata=metadata), **options)
    assert isolation_of(found.objects[0]) is Isolation.CONTAINER
    assert isolation_of(found.jobset) is Isolation.CONTAINER
    assert isolation_of(prepared(jobset()).jobset) is Isolation.PROCESS


@pytest.mark.parametrize(
    ("kind", "field", "value", "said"),
    [
        ("Secret", "data", "A", "it is not Base64"),
        ("Secret", "data", "ä", "it is not Base64"),
        ("ConfigMap", "binaryData", "A", "it is not Base64"),
        ("ConfigMap", "data", 5, "it is not text"),
        ("Secret", "stringData", [], "it is not text"),
    ],
)
def test_files_that_nobody_could_write(kind: str, field: str, value: Any, said: str) -> None:
    companion = {**CONFIG, "kind": kind, field: {"k": value}}
    with pytest.raises(InvalidError, match=rf"{kind}/c: {field}\[k\]: {said}"):
        prepared(companion, jobset())


@pytest.mark.parametrize("metadata", [None, [], 5, "x"])
def test_companions_of_an_array_without_a_name(metadata: Any) -> None:
    jobs = elements(Submission([{**CONFIG, "metadata": metadata}, jobset()], num_jobs=2))
    assert [job.objects[0]["metadata"] for job in jobs] == [metadata] * 2


class Checking(FakeBackend):
    """Checks nodes, unless a job says otherwise."""

    def usual_health_check(self) -> str:
        return "60"


@pytest.mark.parametrize(("said", "checked"), [(None, "60"), ("30", "30"), ("false", "false")])
def test_nodes_are_checked_as_usual_unless_the_job_says_otherwise(
    said: str | None, checked: str
) -> None:
    job = jobset("demo")
    job["metadata"]["annotations"] = {} if said is None else {HEALTH_CHECK: said}
    made = prepare(Submission([job]), Checking())
    assert made.jobset["metadata"]["annotations"][HEALTH_CHECK] == checked
    assert HEALTH_CHECK not in str(prepared(jobset("demo")).jobset)


@pytest.mark.parametrize(("header", "labels"), [
    ("{name: g, execution: parallel}", {JOB_GROUP: "true"}),
    ("name: g", {}),
], ids=["side by side", "one after the other"])  # fmt: skip
def test_a_job_group_has_a_label(header: str, labels: dict[str, str]) -> None:
    file = parse(f"{header}\n---\n{{name: a, run: 'true'}}\n---\n{{name: b, run: 'true'}}").file
    assert file is not None
    assert prepared(*objects_of(file, "g")).labels == labels
