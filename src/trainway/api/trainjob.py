"""TrainJob: one training, run on the template of a runtime."""

from typing import Annotated, ClassVar

from annotated_types import Ge, Le, MaxLen, MinLen
from pydantic import Field

from trainway.api.constraints import (
    ATOMIC,
    EnvVars,
    Int32,
    Int64,
    Kube,
    ObjectName,
    Rules,
    Time,
    map_by,
)
from trainway.api.model import Condition, Model, Resource
from trainway.api.pod_override import PodTemplateOverride
from trainway.api.rules import IMMUTABLE, at_least_one, matches
from trainway.api.runtime_patch import RuntimePatch
from trainway.json_types import Json
from trainway.schema.structural import Rule

GROUP = "trainer.kubeflow.org"
CONTROLLER = "trainer.kubeflow.org/trainjob-controller"
MULTIKUEUE = "kueue.x-k8s.io/multikueue"

_URI = "^[A-Za-z][A-Za-z0-9+.-]*://.+$"
_STORAGE_URI = Rule(
    f"self == '' || self.matches('{_URI}')",
    "storageUri may be empty, or it must be a valid URI (scheme://...)",
    lambda value, _old: value == "" or matches(value, _URI),
)
_KNOWN_CONTROLLER = Rule(
    f"self in ['{CONTROLLER}', '{MULTIKUEUE}']",
    f"ManagedBy must be {CONTROLLER} or {MULTIKUEUE} if set",
    lambda value, _old: value in (CONTROLLER, MULTIKUEUE),
)
_HAS_UPDATE_TIME = Rule(
    "has(self.lastUpdatedTime)",
    "lastUpdatedTime is required when trainerStatus is present",
    lambda value, _old: value.get("lastUpdatedTime") is not None,
)

Words = Annotated[list[Annotated[str, MaxLen(1048576)]], ATOMIC, MaxLen(128)]
Count = Annotated[Int32, Ge(0)]
MetricText = Annotated[str, MinLen(1), MaxLen(64)]


class RuntimeRef(Model):
    """The runtime that the TrainJob runs on."""

    name: ObjectName
    """Name of the runtime."""
    api_group: Annotated[str, MaxLen(253)] = GROUP
    """API group of the runtime."""
    kind: Annotated[str, MaxLen(253)] = "ClusterTrainingRuntime"
    """TrainingRuntime or ClusterTrainingRuntime."""


class InitializerSource(Model):
    """Where a dataset or a model comes from."""

    storage_uri: Annotated[str, MaxLen(2048), Rules(_STORAGE_URI)] | None = None
    """Where to fetch it: `scheme://...`."""
    env: EnvVars = Field(default_factory=list)
    """Variables for the initializer container."""
    secret_ref: Annotated[Json, Kube("LocalObjectReference")] | None = None
    """Secret with credentials; each of its keys becomes a variable."""


class Initializer(Model):
    """What is fetched before the training starts."""

    dataset: InitializerSource | None = None
    """The dataset to train on."""
    model: InitializerSource | None = None
    """The pretrained model to start from."""


class Trainer(Model):
    """The training itself; what is left out is as in the runtime."""

    image: Annotated[str, MaxLen(500)] | None = None
    """Image of the training container."""
    command: Words | None = None
    """Entry point of the training container."""
    args: Words | None = None
    """Arguments for the entry point."""
    env: EnvVars = Field(default_factory=list)
    """Variables for the training container."""
    num_nodes: Count | None = None
    """How many nodes train."""
    resources_per_node: Annotated[Json, Kube("ResourceRequirements")] | None = None
    """What each node needs; merged over the resources in the runtime."""
    num_proc_per_node: (
        Annotated[Int32, Rules(at_least_one("numProcPerNode must be greater than or equal to 1"))]
        | None
    ) = None
    """How many processes each node starts."""


class TrainJobSpec(Model):
    """What to train, how, and on which runtime."""

    runtime_ref: Annotated[RuntimeRef, Rules(IMMUTABLE)]
    """The runtime that the job runs on."""
    initializer: Annotated[Initializer, Rules(IMMUTABLE)] | None = None
    """What is fetched before the training starts."""
    trainer: Annotated[Trainer, Rules(IMMUTABLE)] | None = None
    """The training itself."""
    runtime_patches: Annotated[list[RuntimePatch], map_by("manager"), MaxLen(16)] = Field(
        default_factory=list
    )
    """Changes to the runtime for this job only, one entry for each manager."""
    pod_template_overrides: Annotated[list[PodTemplateOverride], ATOMIC, MaxLen(128)] = Field(
        default_factory=list
    )
    """What Kueue up to 0.16 decides about pods; for people there is runtimePatches."""
    suspend: bool = False
    """Whether the job is held back or stopped for now."""
    active_deadline_seconds: Annotated[Int64, Ge(1), Rules(IMMUTABLE)] | None = None
    """How long the job may run, in seconds, before it fails."""
    managed_by: Annotated[str, MaxLen(253), Rules(_KNOWN_CONTROLLER, IMMUTABLE)] = CONTROLLER
    """The controller that runs the job."""


class JobStatus(Model):
    """How the jobs of one replicated job stand."""

    name: ObjectName
    """Name of the replicated job."""
    ready: Count
    """Jobs with all pods ready or succeeded."""
    succeeded: Count
    """Jobs that succeeded."""
    failed: Count
    """Jobs that failed."""
    active: Count
    """Jobs with a pod that is pending or running."""
    suspended: Count
    """Jobs that are suspended."""


class Metric(Model):
    """A figure that the training reported."""

    name: MetricText
    """What was measured."""
    value: MetricText
    """The figure, as text."""


class TrainerStatus(Model):
    """How far the training is, as it says itself."""

    rules: ClassVar[tuple[Rule, ...]] = (_HAS_UPDATE_TIME,)

    progress_percentage: Annotated[Int32, Ge(0), Le(100)] | None = None
    """How much is done, from 0 to 100."""
    estimated_remaining_seconds: Count | None = None
    """How long it will still take."""
    metrics: Annotated[list[Metric], ATOMIC, MaxLen(256)] = Field(default_factory=list)
    """Latest figures."""
    last_updated_time: Time | None = None
    """When the training last reported."""


class TrainJobStatus(Model):
    """How the TrainJob stands."""

    min_properties: ClassVar[int | None] = 1

    conditions: Annotated[
        list[Annotated[Condition, Kube("Condition")]], map_by("type"), MaxLen(8)
    ] = Field(default_factory=list)
    """Suspended, Complete and Failed; a job that runs has none of them True."""
    jobs_status: Annotated[list[JobStatus], map_by("name"), MaxLen(100)] = Field(
        default_factory=list
    )
    """How each replicated job stands."""
    trainer_status: TrainerStatus | None = None
    """How far the training is."""


class TrainJob(Resource):
    """One training, run on the template of a runtime."""

    spec: TrainJobSpec
    """What to train, how, and on which runtime."""
    status: TrainJobStatus | None = None
    """How the job stands."""
