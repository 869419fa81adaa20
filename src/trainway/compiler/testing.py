"""Small jobs and runtimes from which tests build their cases."""

from typing import Any

from trainway.compiler.compile import Input, Options, Outcome, compile_objects
from trainway.jobset.labels import ANCESTOR_STEP
from trainway.jobset.model import Container, ReplicatedJob, replicated_jobs
from trainway.json_types import Json

TRAINER_GROUP = "trainer.kubeflow.org/v1alpha1"
RUNTIME = "some-runtime"


def role(name: str = "node", ancestor: str = "trainer", **container: Any) -> Json:
    """A replicated job with one container, named as its step demands."""
    container_name = "node" if ancestor in ("", "trainer") else ancestor
    labels = {ANCESTOR_STEP: ancestor} if ancestor else {}
    pod = {"spec": {"containers": [{"name": container_name, "image": "old:1", **container}]}}
    return {
        "name": name,
        "template": {"metadata": {"labels": labels}, "spec": {"template": pod}},
    }


def runtime(policy: Json | None, *roles: Json, name: str = RUNTIME, **spec: Any) -> Json:
    """A ClusterTrainingRuntime; `spec` goes into its JobSet template."""
    template = {"spec": {"replicatedJobs": list(roles) or [role()], **spec}}
    body: Json = {"template": template}
    if policy is not None:
        body["mlPolicy"] = policy
    return {
        "apiVersion": TRAINER_GROUP,
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": name},
        "spec": body,
    }


def trainjob(trainer: Json | None = None, runtime_name: str = RUNTIME, **spec: Any) -> Json:
    """A TrainJob `t` in the namespace `ns`."""
    body: Json = {"runtimeRef": {"name": runtime_name}, **spec}
    if trainer is not None:
        body["trainer"] = trainer
    return {
        "apiVersion": TRAINER_GROUP,
        "kind": "TrainJob",
        "metadata": {"name": "t", "namespace": "ns", "uid": "U"},
        "spec": body,
    }


def compiled(*objects: Json, **options: Any) -> Outcome:
    """What becomes of the objects."""
    inputs = [Input(obj, "test.yaml") for obj in objects]
    return compile_objects(inputs, Options(redact=True, **options))


def messages(*objects: Json) -> list[str]:
    """What is said against the objects, without where they came from."""
    return [problem.message for problem in compiled(*objects).errors]


def found(outcome: Outcome, kind: str) -> Json:
    """The one object of that kind."""
    assert not outcome.errors, [str(problem) for problem in outcome.errors]
    objects = [obj for obj in outcome.objects if obj["kind"] == kind]
    assert len(objects) == 1, [obj["kind"] for obj in outcome.objects]
    return objects[0]


def jobs(outcome: Outcome) -> dict[str, ReplicatedJob]:
    """The JobSet's roles by name."""
    return {job.name: job for job in replicated_jobs(found(outcome, "JobSet")["spec"])}


def node(outcome: Outcome, job: str = "node") -> Container:
    """The container that trains."""
    container = jobs(outcome)[job].pod.container("node")
    assert container is not None
    return container


def env(container: Container) -> dict[str, Any]:
    """The variables by name: a value, or its source."""
    return {e["name"]: e.get("value", e.get("valueFrom")) for e in container.env}


def pods(outcome: Outcome) -> dict[str, int]:
    """How many pods each role has."""
    return {name: job.job_spec["completions"] for name, job in jobs(outcome).items()}
