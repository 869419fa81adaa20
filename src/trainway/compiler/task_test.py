"""Golden tests: the JobSets that tasks become, on a cluster and on the submitter's own host."""

import json
from dataclasses import dataclass
from importlib import resources
from typing import Any

import pytest
import yaml

from trainway.api.task import task_object
from trainway.api.task.task_file import parse
from trainway.api.task.task_object import Origin, Part, TaskJob
from trainway.compiler.network import JobIdentity, KubernetesNetwork, Network
from trainway.compiler.task import compile_task, later, unresolved
from trainway.compiler.testing import compiled
from trainway.jobset.labels import CANDIDATES, HEALTH_CHECK, TASK_FILES
from trainway.json_types import Json

DATA = resources.files("trainway.compiler") / "testdata" / "tasks"
ORIGIN = Origin(at="2026-01-31-12-00-00-000000", by="me", directory="/srv/me", home="/home/me")


@dataclass(frozen=True)
class OneHost(KubernetesNetwork):
    """The network of a backend on the submitter's own host."""

    shares_host: bool = True
    remote_shell: str = ""
    cloud: str = "local"

    def host(self, role: str, pod: int, job: int = 0) -> str:  # noqa: ARG002 - all are the same
        return "127.0.0.1"


@dataclass(frozen=True)
class Case:
    name: str
    network: Any = KubernetesNetwork
    expected: str = ""


CASES = [
    Case("full", KubernetesNetwork, "full.kubernetes.yaml"),
    Case("full", OneHost, "full.local.yaml"),
    Case("pipeline", KubernetesNetwork, "pipeline.kubernetes.yaml"),
    Case("group", OneHost, "group.local.yaml"),
]


def job_of(text: str, name: str = "job", origin: Origin = ORIGIN) -> TaskJob:
    parsed = parse(text)
    assert parsed.file is not None, parsed.errors
    objects = task_object.objects_of(parsed.file, name, origin, notes=parsed.warnings)
    job, errors = task_object.read(objects[-1])
    assert job is not None, errors
    return job


@pytest.mark.parametrize(
    ("config", "said"),
    [("{health_check: true}", "true"), ("{health_check: 30}", "30"), ("{}", None)],
)
def test_a_task_says_whether_its_nodes_are_checked(config: str, said: str | None) -> None:
    made = jobset_of(f"run: echo\nconfig: {config}\n")
    assert (made["metadata"].get("annotations") or {}).get(HEALTH_CHECK) == said


def jobset_of(text: str, network: Any = KubernetesNetwork) -> Json:
    return compile_task(job_of(text), network).objects[0]


def container_of(jobset: Json, role: int = 0) -> Any:
    template = jobset["spec"]["replicatedJobs"][role]["template"]["spec"]["template"]
    return template["spec"]["containers"][0]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.expected)
def test_golden(case: Case) -> None:
    job = job_of((DATA / f"{case.name}.task.yaml").read_text(), case.name)
    made = compile_task(job, case.network)

    expected = yaml.safe_load((DATA / case.expected).read_text())
    assert {"warnings": made.warnings, "objects": made.objects} == expected


def test_compiling_twice_gives_the_same_and_no_secret() -> None:
    job = job_of((DATA / "full.task.yaml").read_text())
    first, second = (json.dumps(compile_task(job, OneHost).objects) for _ in range(2))

    assert first == second
    assert "hidden" not in first


def test_the_secret_goes_before_the_jobset() -> None:
    parsed = parse("run: x\nsecrets: {A: hidden}")
    assert parsed.file is not None
    outcome = compiled(*task_object.objects_of(parsed.file, "job", masked=True))

    assert [obj["kind"] for obj in outcome.objects] == ["Secret", "JobSet"]
    assert outcome.objects[0]["stringData"] == {"A": "***"}


def test_candidates_are_kept_in_order() -> None:
    jobset = jobset_of("run: x\nresources: {ordered: [{infra: aws}, {gpus: A100}], cpus: 2}")

    assert json.loads(jobset["metadata"]["annotations"][CANDIDATES]) == {
        "node": {
            "ordered": True,
            "candidates": [{"infra": "aws", "cpus": 2}, {"accelerators": "A100:1", "cpus": 2}],
        }
    }
    assert container_of(jobset)["resources"] == {"requests": {"cpu": "2"}}


def test_a_plain_task_has_no_annotations_and_no_requests() -> None:
    jobset = jobset_of("run: x")

    assert jobset["metadata"] == {"name": "job", "annotations": {}}
    assert "resources" not in container_of(jobset)


def test_what_a_backend_must_bring_along() -> None:
    jobset = jobset_of("workdir: .\nfile_mounts: {/a: b, /c: s3://d}")

    assert json.loads(jobset["metadata"]["annotations"][TASK_FILES]) == {
        "node": {
            "directory": "/srv/me",
            "workdir": ".",
            "fileMounts": {"/a": "b", "/c": "s3://d"},
        }
    }


def test_what_comes_later_and_what_is_missing() -> None:
    parsed = parse(
        "service: {readiness_probe: /, replicas: 1}\nresources: {ports: 80}\n"
        "file_mounts: {/a: cos://us/b}\nworkdir: ./$S\nsecrets: {M: null, S: hidden}"
    )
    assert parsed.file is not None

    assert later(parsed.file.tasks) == [
        "service: services are checked, but they cannot be run yet",
        "file_mounts[/a]: cos:// is not supported yet; there are s3://, gs://, az://, r2://, hf://",
    ]
    assert unresolved(parsed.file.tasks) == [
        "secrets.M: it has no value; pass one with --secret M=VALUE",
        "secrets.S: it is used in a section that is shown in plain text; move it to envs",
    ]


def test_roles_that_would_be_called_the_same() -> None:
    jobset = jobset_of(
        "name: A.b\nrun: x\n---\nname: a-b\nrun: x\n---\nrun: x\n---\nname: '1'\nrun: x"
    )

    names = [role["name"] for role in jobset["spec"]["replicatedJobs"]]
    assert names == ["a-b", "a-b-1", "task-2", "task-1"]


def test_the_network_is_that_of_the_job() -> None:
    seen: list[JobIdentity] = []

    def network(job: JobIdentity) -> Network:
        seen.append(job)
        return KubernetesNetwork(job)

    compile_task(job_of("run: x"), network)
    assert seen == [JobIdentity("job", "default", "job")]


def test_a_jobset_has_each_task_behind_those_that_it_depends_on() -> None:
    text = "{name: last, depends_on: [b, a]}\n---\n{name: a, depends_on: [b]}\n---\n{name: b}"
    jobset = jobset_of(text)
    roles = jobset["spec"]["replicatedJobs"]
    assert [role["name"] for role in roles] == ["b", "a", "last"]
    complete = {"status": "Complete"}
    assert "dependsOn" not in roles[0]
    assert roles[2]["dependsOn"] == [{"name": "b", **complete}, {"name": "a", **complete}]


def test_a_part_of_a_pipeline_has_its_task_as_role_and_reads_outputs() -> None:
    part = Part("p", "train", {"prepare": "/jobs/1/output"})
    task = {"name": "train", "envs": {"D": "${tasks.prepare.output}"}}
    metadata, spec = {"name": "p-train"}, {"tasks": [{"task": task}]}
    job, errors = task_object.read({"metadata": metadata, "spec": spec, "part": part.to_dict()})
    assert job is not None, errors
    jobset = compile_task(job, OneHost).objects[0]
    assert [role["name"] for role in jobset["spec"]["replicatedJobs"]] == ["train"]
    assert {"name": "D", "value": "/jobs/1/output"} in container_of(jobset)["env"]


def test_outputs_are_not_known_in_one_jobset() -> None:
    job = job_of("{name: a, run: x}\n---\n{name: b, run: 'ls ${tasks.a.output}'}")
    told = "tasks: only `trainway run` knows the outputs of tasks; they are not replaced"
    assert told in compile_task(job, OneHost).warnings


def test_a_delay_is_not_for_kubernetes() -> None:
    header = "name: g\nexecution: parallel\nprimary_tasks: [a]\ntermination_delay: 5s"
    job = job_of(f"{header}\n---\n{{name: a, run: x}}\n---\n{{name: b, run: x}}")
    assert compile_task(job, OneHost).warnings == []
    (told,) = compile_task(job, KubernetesNetwork).warnings
    assert told.startswith("termination_delay: it is not supported on Kubernetes")
