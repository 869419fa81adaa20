"""Options of `train()` that become fields of a TrainJob, under the names of upstream's module."""

from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from trainway.json_types import Json
from trainway.sdk.kubeflow.types.types import CustomTrainerContainer, Trainer


@dataclass
class Labels:
    """Labels of the TrainJob."""

    labels: dict[str, str]

    def __call__(self, job_spec: Json, _trainer: Trainer | None, _backend: object) -> None:
        """Set them beside those that the job has by itself."""
        metadata = job_spec.setdefault("metadata", {})
        metadata["labels"] = {**(metadata.get("labels") or {}), **self.labels}


@dataclass
class Annotations:
    """Annotations of the TrainJob."""

    annotations: dict[str, str]

    def __call__(self, job_spec: Json, _trainer: Trainer | None, _backend: object) -> None:
        """Set them beside those that the job has by itself, such as its packages."""
        metadata = job_spec.setdefault("metadata", {})
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **self.annotations}


@dataclass
class TrainerCommand:
    """The command of the container, for a CustomTrainerContainer."""

    command: list[str]

    def __call__(self, job_spec: Json, trainer: Trainer | None, _backend: object) -> None:
        """Set it."""
        _check_container(self, trainer)
        job_spec["spec"].setdefault("trainer", {})["command"] = self.command


@dataclass
class TrainerArgs:
    """The arguments of the container, for a CustomTrainerContainer."""

    args: list[str]

    def __call__(self, job_spec: Json, trainer: Trainer | None, _backend: object) -> None:
        """Set them."""
        _check_container(self, trainer)
        job_spec["spec"].setdefault("trainer", {})["args"] = self.args


@dataclass
class ActiveDeadlineSeconds:
    """How long the job may run."""

    seconds: int

    def __post_init__(self) -> None:
        if type(self.seconds) is not int or self.seconds < 1:
            raise ValueError(f"seconds must be a whole number from 1 on, not {self.seconds!r}")

    def __call__(self, job_spec: Json, _trainer: Trainer | None, _backend: object) -> None:
        """Set it."""
        job_spec["spec"]["activeDeadlineSeconds"] = self.seconds


@dataclass
class ContainerPatch:
    """Changes to one container."""

    name: str
    env: list[Json] | None = None
    volume_mounts: list[Json] | None = None
    security_context: Json | None = None


@dataclass
class PodSpecPatch:
    """Changes to the pods of one job."""

    service_account_name: str | None = None
    volumes: list[Json] | None = None
    init_containers: list[ContainerPatch] | None = None
    containers: list[ContainerPatch] | None = None
    image_pull_secrets: list[Json] | None = None
    security_context: Json | None = None
    node_selector: dict[str, str] | None = None
    affinity: Json | None = None
    tolerations: list[Json] | None = None
    scheduling_gates: list[Json] | None = None


@dataclass
class PodTemplatePatch:
    """Changes to a pod template."""

    metadata: Json | None = None
    spec: PodSpecPatch | None = None


@dataclass
class JobSpecPatch:
    """Changes to a job."""

    template: PodTemplatePatch | None = None


@dataclass
class JobTemplatePatch:
    """Changes to a job template."""

    metadata: Json | None = None
    spec: JobSpecPatch | None = None


@dataclass
class ReplicatedJobPatch:
    """Changes to the replicated job of that name."""

    name: str
    template: JobTemplatePatch | None = None


@dataclass
class JobSetSpecPatch:
    """Changes to the JobSet."""

    replicated_jobs: list[ReplicatedJobPatch] | None = None


@dataclass
class JobSetTemplatePatch:
    """Changes to the JobSet's template."""

    metadata: Json | None = None
    spec: JobSetSpecPatch | None = None


@dataclass
class TrainingRuntimeSpecPatch:
    """Changes to a runtime."""

    template: JobSetTemplatePatch | None = None


@dataclass
class RuntimePatch:
    """Changes to the runtime, for this job."""

    training_runtime_spec: TrainingRuntimeSpecPatch | None = None
    manager: str = field(default="trainer.kubeflow.org/kubeflow-sdk", init=False, repr=False)

    def __call__(self, job_spec: Json, _trainer: Trainer | None, _backend: object) -> None:
        """Add them to those that are there."""
        job_spec["spec"].setdefault("runtimePatches", []).append(_to_json(self))


def _check_container(option: object, trainer: Trainer | None) -> None:
    if trainer is not None and not isinstance(trainer, CustomTrainerContainer):
        raise ValueError(
            f"{type(option).__name__} is for a CustomTrainerContainer; "
            f"a {type(trainer).__name__} has a command of its own"
        )


def _to_json(value: Any) -> Any:
    """A patch as the API has it: camelCase, without what is not given."""
    if isinstance(value, list):
        return [_to_json(item) for item in value]
    if not is_dataclass(value):
        return value
    given = {item.name: _to_json(getattr(value, item.name)) for item in fields(value)}
    return {_camel_case(name): item for name, item in given.items() if item not in (None, {}, [])}


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
