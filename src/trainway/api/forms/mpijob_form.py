"""An MPIJob as a form, built as `trainway mpijob create` builds it. Pure."""

from typing import Any, Final

from trainway.api.forms.job_form import (
    METADATA_PATHS,
    FormKind,
    JobForm,
    at,
    number_at,
    read_metadata,
    read_resources,
    read_variables,
    resource_paths,
    strings,
    text_at,
    written,
)
from trainway.api.mpijob_wishes import OPEN_MPI, MPIJobWishes, mpijob_of
from trainway.api.pod_wishes import ResourceRequirements
from trainway.json_types import Json

_REPLICAS: Final = "spec.mpiReplicaSpecs"
_WORKER: Final = f"{_REPLICAS}.Worker.template.spec.containers[0]"
_LAUNCHER: Final = f"{_REPLICAS}.Launcher.template.spec.containers[0]"
_OPTIONS: Final = ("-x", "-n")
PATHS: Final = (
    *METADATA_PATHS,
    (f"{_REPLICAS}.Worker.replicas", "nodes"),
    ("spec.slotsPerWorker", "processes"),
    ("spec.mpiImplementation", "mpi"),
    (f"{_LAUNCHER}.command", "command"),
    (f"{_LAUNCHER}.args", "command"),
    (f"{_LAUNCHER}.image", "image"),
    (f"{_WORKER}.image", "image"),
    (f"{_WORKER}.env", "env"),
    *resource_paths(f"{_WORKER}.resources"),
)


def mpijob(form: JobForm) -> Json:
    """The MPIJob that a form describes."""
    gpu = int(form.gpu) if form.gpu.isascii() and form.gpu.isdecimal() else None
    given: dict[str, Any] = {"workers": form.nodes, "slots_per_worker": form.processes}
    return mpijob_of(
        MPIJobWishes(
            name=form.name,
            image=form.image,
            command=form.command,
            namespace=form.namespace,
            resources=ResourceRequirements(
                cpu=form.cpu or None, memory=form.memory or None, gpu=gpu
            ),
            mpi_implementation=form.mpi or OPEN_MPI,
            queue=form.queue,
            env=form.env,
            **{name: value for name, value in given.items() if value is not None},
        )
    )


def read(job: Json) -> JobForm:
    """The form that an MPIJob would be."""
    replicas = at(job, "spec", "mpiReplicaSpecs")
    launcher, worker = (
        at(replicas, role, "template", "spec", "containers", 0) for role in ("Launcher", "Worker")
    )
    command = [*strings(at(launcher, "command")), *strings(at(launcher, "args"))]
    resources = read_resources(at(worker, "resources"))
    slots = number_at(job, "spec", "slotsPerWorker")
    is_usual = str(slots) == (resources["gpu"] or "1")
    return JobForm(
        FormKind.MPIJOB,
        **read_metadata(job),
        image=text_at(worker, "image") or text_at(launcher, "image"),
        command=written(_started(command)),
        nodes=number_at(replicas, "Worker", "replicas"),
        processes=None if is_usual else slots,
        mpi=text_at(job, "spec", "mpiImplementation"),
        env=read_variables(at(worker, "env")),
        **resources,
    )


def _started(command: list[str]) -> list[str]:
    """What mpirun starts, where it has no options but our own."""
    if command[:1] != ["mpirun"]:
        return command
    rest = command[1:]
    while len(rest) > 1 and rest[0] in _OPTIONS:
        rest = rest[2:]
    return rest if rest and not rest[0].startswith("-") else command
