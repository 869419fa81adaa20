"""Initializers: the jobs that fetch data set and model before the trainer starts."""

from collections.abc import Iterator

from trainway.api.trainjob import InitializerSource
from trainway.compiler.initializer_steps import VOLUME, sources
from trainway.compiler.workload import DATASET_INITIALIZER, Role, Workload
from trainway.schema.field import FieldError, invalid

STORAGE_URI = "STORAGE_URI"
CACHE_SCHEME = "cache://"


class Initializers:
    """Active where the job has `spec.initializer`."""

    name = "Initializers"
    order = 50

    def validate(self, workload: Workload) -> Iterator[FieldError]:
        """The runtime has the job, the container and the mount that each initializer needs."""
        ref = workload.job.spec.runtime_ref.name
        for step, what, source in _sources(workload):
            problem = _problem(workload.role(step), step, what, source)
            if problem:
                yield invalid(("spec", "runtimeRef"), ref, problem)

    def enforce_ml_policy(self, workload: Workload) -> None:
        """Hand the job's URI, variables and secret to the initializer."""
        for step, _, source in _sources(workload):
            for role in workload.roles:
                if role.ancestor == step:
                    _configure(role, step, source)


def _sources(workload: Workload) -> Iterator[tuple[str, str, InitializerSource]]:
    for step, source in sources(workload):
        what = "datasetConfig" if step == DATASET_INITIALIZER else "modelConfig"
        yield step, f"input {what}", source


def _problem(role: Role | None, step: str, what: str, source: InitializerSource) -> str:
    if role is None:
        return f"must have {step} job when trainJob is configured with {what}"
    if role.pod.any_container(step) is None:
        return f"must have container with name - {step} in the {step} job"
    container = role.container(step)
    if container is not None and container.mounts(VOLUME):
        return ""
    if _uri(role, step, source).startswith(CACHE_SCHEME):
        return ""  # a cache keeps the data itself, so nothing is mounted (defect D13)
    return f"must have volumeMount with name - {VOLUME} in container {step} of the {step} job"


def _uri(role: Role, step: str, source: InitializerSource) -> str:
    """The URI that the initializer will see."""
    container = role.container(step)
    env = [
        *(container.env if container else ()),
        {"name": STORAGE_URI, "value": source.storage_uri},
        *source.env,
    ]
    values = [e.get("value") for e in env if e["name"] == STORAGE_URI]
    return next((str(value) for value in reversed(values) if value), "")


def _configure(role: Role, step: str, source: InitializerSource) -> None:
    container = role.container(step)
    if container is None:
        return
    if source.storage_uri is not None:
        container.set_env({"name": STORAGE_URI, "value": source.storage_uri})
    container.set_env(*source.env)
    if source.secret_ref is not None:
        reference = {"secretRef": {"name": source.secret_ref.get("name", "")}}
        container.data.setdefault("envFrom", []).append(reference)
