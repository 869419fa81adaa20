"""Python code as a form: a JobSet that runs it, or a TrainJob where a runtime is named. Pure.

The code is in the command itself, so that it goes wherever the job goes and needs no file anywhere.
"""

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
)
from trainway.api.forms.trainjob_form import PATHS as TRAINJOB_PATHS
from trainway.api.forms.trainjob_form import trainjob
from trainway.jobset.literal_text import literal
from trainway.jobset.model import API_VERSION, KIND
from trainway.json_types import Json

LARGEST_CODE: Final = 100_000
"""The most characters of code: Linux takes no argument of more than 128 KiB."""
IMAGE: Final = "python:3.12-slim"
"""The image of pods for which none is named."""
_INTERPRETER: Final = ("python3", "-c")
_LAUNCHERS: Final = {"torch": ("torchrun", "--no-python"), "mpi": ("mpirun",)}
_JOB: Final = "spec.replicatedJobs[0].template.spec"
_NODE: Final = f"{_JOB}.template.spec.containers[0]"
PATHS: Final = (
    *METADATA_PATHS,
    (f"{_JOB}.parallelism", "nodes"),
    (f"{_JOB}.completions", "nodes"),
    (f"{_NODE}.image", "image"),
    (f"{_NODE}.command", "code"),
    (f"{_NODE}.env", "env"),
    *resource_paths(f"{_NODE}.resources"),
    *((path, "code" if key == "command" else key) for path, key in TRAINJOB_PATHS),
)


def script(form: JobForm, policy: Json | None = None) -> Json:
    """The job that runs the code; `policy` is the mlPolicy of the runtime that is named."""
    command = [*_INTERPRETER, literal(form.code)]
    if form.runtime:
        names = [name for name in _LAUNCHERS if name in (policy or {})]
        launcher = _LAUNCHERS[names[0]] if names else ()
        return trainjob(form, [*launcher, *command])
    container: Json = {"name": "node"}
    image = form.image or (IMAGE if form.is_in_pods else "")
    if image:
        container["image"] = image
    container["command"] = command
    if form.env:
        container["env"] = form.variables()
    if resources := form.resources():
        container["resources"] = resources
    nodes = 1 if form.nodes is None else form.nodes
    job_spec = {
        "completionMode": "Indexed",
        "completions": nodes,
        "parallelism": nodes,
        "backoffLimit": 0,
        "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
    }
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": form.metadata(),
        "spec": {"replicatedJobs": [{"name": "node", "template": {"spec": job_spec}}]},
    }


def code_of(command: Any) -> str | None:
    """The code of a command that is made of it; None: it is another command."""
    parts = strings(command)
    for launcher in ((), *_LAUNCHERS.values()):
        start = (*launcher, *_INTERPRETER)
        if len(parts) == len(start) + 1 and tuple(parts[:-1]) == start:
            return parts[-1].replace("$$", "$")
    return None


def read(job: Json) -> JobForm | None:
    """The form that a JobSet or TrainJob would be; None: it is not one of code."""
    if job.get("kind") == "TrainJob":
        node, job_spec = at(job, "spec", "trainer"), None
    else:
        job_spec = at(job, "spec", "replicatedJobs", 0, "template", "spec")
        node = at(job_spec, "template", "spec", "containers", 0)
    code = code_of(at(node, "command"))
    if code is None or at(node, "args"):
        return None
    is_plain = job_spec is not None
    return JobForm(
        FormKind.SCRIPT,
        **read_metadata(job),
        runtime=text_at(job, "spec", "runtimeRef", "name"),
        image=text_at(node, "image"),
        code=code,
        nodes=number_at(job_spec, "parallelism") if is_plain else number_at(node, "numNodes"),
        processes=None if is_plain else number_at(node, "numProcPerNode"),
        env=read_variables(at(node, "env")),
        **read_resources(at(node, "resources" if is_plain else "resourcesPerNode")),
    )
