"""Runtime patches: what a TrainJob, or a controller on its behalf, changes in its runtime.

Each manager has one entry. Inside an entry only what a queue sets may change later (node selector,
affinity, tolerations, scheduling gates, metadata); the rest is fixed. A patch is read as plain
data, because it is merged as data; the models below `RuntimePatchTemplate` only say what it may
hold.
"""

from typing import Annotated

from annotated_types import Ge, MaxLen
from pydantic import Field

from trainway.api.constraints import (
    ATOMIC,
    EnvVars,
    Int64,
    Kube,
    ObjectName,
    Rules,
    Shaped,
    Time,
    map_by,
)
from trainway.api.model import Model
from trainway.api.rules import IMMUTABLE
from trainway.json_types import Json

Metadata = Annotated[Json, Kube("EmbeddedObjectMeta")]


class ContainerPatch(Model):
    """Changes to one container."""

    name: ObjectName
    """Name of a container of the runtime."""
    env: EnvVars = Field(default_factory=list)
    """Variables to set. Not allowed for the containers of the trainer and the initializers."""
    volume_mounts: Annotated[
        list[Annotated[Json, Kube("VolumeMount")]], map_by("name"), MaxLen(128)
    ] = Field(default_factory=list)
    """Volumes to mount, each once."""
    security_context: Annotated[Json, Kube("SecurityContext")] | None = None
    """Privileges of the container."""


ContainerPatches = Annotated[list[ContainerPatch], map_by("name"), MaxLen(64), Rules(IMMUTABLE)]


class PodSpecPatch(Model):
    """Changes to the pods of one replicated job."""

    service_account_name: Annotated[str, MaxLen(253), Rules(IMMUTABLE)] | None = None
    """The service account the pods run as."""
    volumes: Annotated[
        list[Annotated[Json, Kube("Volume")]], map_by("name"), MaxLen(128), Rules(IMMUTABLE)
    ] = Field(default_factory=list)
    """Volumes to add."""
    init_containers: ContainerPatches = Field(default_factory=list)
    """Changes to init containers."""
    containers: ContainerPatches = Field(default_factory=list)
    """Changes to containers."""
    image_pull_secrets: Annotated[
        list[Annotated[Json, Kube("LocalObjectReference")]],
        map_by("name"),
        MaxLen(64),
        Rules(IMMUTABLE),
    ] = Field(default_factory=list)
    """Secrets to pull images with."""
    security_context: Annotated[Json, Kube("PodSecurityContext"), Rules(IMMUTABLE)] | None = None
    """Privileges of the pods."""
    node_selector: dict[str, str] = Field(default_factory=dict)
    """Labels that a node must have."""
    affinity: Annotated[Json, Kube("Affinity")] | None = None
    """Which nodes and which other pods to be near to or away from."""
    tolerations: Annotated[list[Annotated[Json, Kube("Toleration")]], ATOMIC, MaxLen(128)] = Field(
        default_factory=list
    )
    """Taints that the pods put up with; they replace those of the runtime."""
    scheduling_gates: Annotated[
        list[Annotated[Json, Kube("PodSchedulingGate")]], map_by("name"), MaxLen(16)
    ] = Field(default_factory=list)
    """Gates that hold the pods back until someone removes them."""
    termination_grace_period_seconds: Annotated[Int64, Ge(0), Rules(IMMUTABLE)] | None = None
    """How long a pod may take to stop."""


class PodTemplatePatch(Model):
    """Changes to the pod template of one replicated job."""

    metadata: Metadata | None = None
    """Labels and annotations for the pods."""
    spec: PodSpecPatch | None = None
    """Changes to the pods."""


class JobSpecPatch(Model):
    """Changes to the job of one replicated job."""

    template: PodTemplatePatch | None = None
    """Changes to the pod template."""


class JobTemplatePatch(Model):
    """Changes to the job template of one replicated job."""

    metadata: Metadata | None = None
    """Labels and annotations for the job."""
    spec: JobSpecPatch | None = None
    """Changes to the job."""


class ReplicatedJobPatch(Model):
    """Changes to one replicated job."""

    name: ObjectName
    """Name of a replicated job of the runtime."""
    template: JobTemplatePatch | None = None
    """Changes to the job template."""


class JobSetSpecPatch(Model):
    """Changes to the JobSet."""

    replicated_jobs: Annotated[list[ReplicatedJobPatch], map_by("name"), MaxLen(100)] = Field(
        default_factory=list
    )
    """Changes to replicated jobs."""


class RuntimePatchTemplate(Model):
    """Changes to the JobSet template of the runtime."""

    metadata: Metadata | None = None
    """Labels and annotations for the JobSet."""
    spec: Annotated[Json, Shaped(JobSetSpecPatch)] | None = None
    """Changes to the JobSet, merged into it as a strategic merge patch."""


class TrainingRuntimeSpecPatch(Model):
    """Changes to the runtime."""

    template: RuntimePatchTemplate | None = None
    """Changes to the JobSet template."""


class RuntimePatch(Model):
    """What one manager changes in the runtime."""

    manager: Annotated[ObjectName, Rules(IMMUTABLE)]
    """Who makes the changes, as a path with a domain: `acme.io/foo`."""
    time: Time | None = None
    """When the entry was last written; set by the admission webhook."""
    training_runtime_spec: TrainingRuntimeSpecPatch | None = None
    """The changes."""
