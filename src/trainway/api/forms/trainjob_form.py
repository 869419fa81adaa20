"""A TrainJob as a form. Pure."""

from typing import Final

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
    words,
    written,
)
from trainway.api.trainjob_wishes import API_VERSION
from trainway.json_types import Json

USUAL_RUNTIME: Final = "torch-distributed"
PATHS: Final = (
    *METADATA_PATHS,
    ("spec.runtimeRef", "runtime"),
    ("spec.trainer.image", "image"),
    ("spec.trainer.command", "command"),
    ("spec.trainer.args", "command"),
    ("spec.trainer.numNodes", "nodes"),
    ("spec.trainer.numProcPerNode", "processes"),
    ("spec.trainer.env", "env"),
    *resource_paths("spec.trainer.resourcesPerNode"),
)


def trainjob(form: JobForm, command: list[str] | None = None) -> Json:
    """The TrainJob that a form describes; `command` is in place of the form's own."""
    trainer: Json = {}
    if form.image:
        trainer["image"] = form.image
    words_ = words(form.command) if command is None else command
    if words_:
        trainer["command"] = words_
    if form.nodes is not None:
        trainer["numNodes"] = form.nodes
    if form.processes is not None:
        trainer["numProcPerNode"] = form.processes
    if resources := form.resources():
        trainer["resourcesPerNode"] = resources
    if form.env:
        trainer["env"] = form.variables()
    return {
        "apiVersion": API_VERSION,
        "kind": "TrainJob",
        "metadata": form.metadata(),
        "spec": {"runtimeRef": {"name": form.runtime or USUAL_RUNTIME}, "trainer": trainer},
    }


def read(job: Json) -> JobForm:
    """The form that a TrainJob would be."""
    trainer = at(job, "spec", "trainer")
    command = [*strings(at(trainer, "command")), *strings(at(trainer, "args"))]
    return JobForm(
        FormKind.TRAINJOB,
        **read_metadata(job),
        runtime=text_at(job, "spec", "runtimeRef", "name"),
        image=text_at(trainer, "image"),
        command=written(command),
        nodes=number_at(trainer, "numNodes"),
        processes=number_at(trainer, "numProcPerNode"),
        env=read_variables(at(trainer, "env")),
        **read_resources(at(trainer, "resourcesPerNode")),
    )
