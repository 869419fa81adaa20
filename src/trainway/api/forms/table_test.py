"""Forms, the manifests they make, and the forms that manifests would be."""

from dataclasses import dataclass, replace

import pytest

from trainway.api.forms.job_form import FormKind, JobForm, words, written
from trainway.api.forms.table import document_of, field_of, form_of
from trainway.api.mpijob_wishes import MPIJobWishes, mpijob_of
from trainway.api.pod_wishes import ResourceRequirements
from trainway.json_types import Json

_COMMON: Json = {
    "name": "a",
    "cpu": "2",
    "memory": "4Gi",
    "gpu": "1",
    "env": {"LR": "0.1", "D": "$(x)"},
}


def builtin_runtime(name: str) -> Json | None:
    return {"spec": {"mlPolicy": {"torch": {}}}} if name == "torch-distributed" else None


@dataclass(frozen=True)
class Case:
    name: str
    form: JobForm


CASES = (
    Case("least trainjob", JobForm(FormKind.TRAINJOB, name="a", runtime="torch-distributed")),
    Case(
        "full trainjob",
        JobForm(
            FormKind.TRAINJOB,
            **_COMMON,
            namespace="team",
            runtime="jax-distributed",
            image="i:1",
            command="python train.py --lr 0.1 'two words'",
            nodes=4,
            processes=2,
            queue="q",
        ),
    ),
    Case(
        "shell",
        JobForm(FormKind.TRAINJOB, name="a", runtime="r", command="cd x && echo $HOME $(date)"),
    ),
    Case(
        "mpijob",
        JobForm(
            FormKind.MPIJOB,
            **_COMMON,
            image="mpi:1",
            command="python train.py",
            nodes=4,
            mpi="OpenMPI",
            queue="q",
        ),
    ),
    Case(
        "mpijob with slots",
        JobForm(
            FormKind.MPIJOB, name="a", image="i", command="x", nodes=2, processes=3, mpi="Intel"
        ),
    ),
    Case(
        "task",
        JobForm(
            FormKind.TASK,
            name="a",
            cpu="2",
            memory="4+",
            gpu="A100:2",
            env={"A": "b"},
            image="i",
            nodes=2,
            setup="pip install x",
            command="python train.py\n",
        ),
    ),
    Case("script", JobForm(FormKind.SCRIPT, **_COMMON, code="print('$$ $(A)')\n", nodes=2)),
    Case(
        "script with torch",
        JobForm(FormKind.SCRIPT, name="a", runtime="torch-distributed", code="import torch"),
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_form_comes_back_from_the_manifest_that_it_makes(case: Case) -> None:
    document = document_of(case.form, builtin_runtime)
    assert form_of(document) == case.form


def test_the_form_makes_the_mpijob_of_the_command_line() -> None:
    form = JobForm(
        FormKind.MPIJOB, name="m", image="mpi:1", command="python train.py", nodes=4, gpu="1"
    )
    wishes = MPIJobWishes(
        name="m",
        image="mpi:1",
        command="python train.py",
        workers=4,
        resources=ResourceRequirements(gpu=1),
    )
    assert document_of(form, builtin_runtime) == mpijob_of(wishes)


def test_code_is_started_by_the_launcher_of_its_runtime() -> None:
    form = JobForm(FormKind.SCRIPT, name="a", runtime="torch-distributed", code="x")
    job = document_of(form, builtin_runtime)
    assert job["spec"]["trainer"]["command"] == ["torchrun", "--no-python", "python3", "-c", "x"]


def test_code_needs_an_image_only_in_pods() -> None:
    here = JobForm(FormKind.SCRIPT, name="a", code="x")
    there = replace(here, backend="k8s/kind")
    assert "image" not in _container(document_of(here, builtin_runtime))
    assert _container(document_of(there, builtin_runtime))["image"].startswith("python:")


def _container(jobset: Json) -> Json:
    job = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]
    container: Json = job["template"]["spec"]["containers"][0]
    return container


@pytest.mark.parametrize(
    ("kind", "path", "field"),
    [
        (FormKind.TRAINJOB, "metadata.name", "name"),
        (FormKind.TRAINJOB, "spec.trainer.numNodes", "nodes"),
        (FormKind.TRAINJOB, "spec.trainer.resourcesPerNode.limits[nvidia.com/gpu]", "gpu"),
        (FormKind.TRAINJOB, "spec.trainer.env[0].name", "env"),
        (FormKind.TRAINJOB, "spec.runtimeRef.name", "runtime"),
        (FormKind.TRAINJOB, "spec.podTemplateOverrides", ""),
        (FormKind.TRAINJOB, "metadata.labels[kueue.x-k8s.io/queue-name]", "queue"),
        (FormKind.MPIJOB, "spec.mpiReplicaSpecs.Worker.replicas", "nodes"),
        (FormKind.TASK, "resources.accelerators", "gpu"),
        (FormKind.SCRIPT, "spec.trainer.command[4]", "code"),
    ],
)
def test_an_error_is_about_a_field_of_the_form(kind: FormKind, path: str, field: str) -> None:
    assert field_of(kind, path) == field


@pytest.mark.parametrize(
    "document",
    [
        {"kind": "TrainJob"},
        {"kind": "TrainJob", "metadata": [], "spec": {"trainer": {"env": [1, {"name": 2}]}}},
        {
            "kind": "MPIJob",
            "spec": {"mpiReplicaSpecs": {"Worker": 3, "Launcher": {"template": []}}},
        },
        {"kind": "MPIJob", "spec": {"slotsPerWorker": True}},
        {"name": 3, "envs": [], "resources": "x"},
        {"kind": "JobSet", "spec": {"replicatedJobs": {}}},
        {"kind": ["TrainJob"]},
    ],
)
def test_a_malformed_manifest_is_a_form_with_gaps_or_none(document: Json) -> None:
    form = form_of(document)
    assert form is None or form.command == ""


def test_a_quotation_mark_that_is_not_closed_is_left_to_the_shell() -> None:
    assert words("echo 'x") == ["sh", "-c", "echo 'x"]
    assert written(words("echo 'x")) == "echo 'x"
