"""Pod template overrides: where Kueue up to 0.16 writes what it decides when it admits a TrainJob.

Trainer 2.0 and 2.1 had this in place of runtime patches, for people too. Here it is for Kueue
alone, so only what a queue sets is left of it.
"""

from typing import Annotated

from annotated_types import MaxLen, MinLen
from pydantic import Field

from trainway.api.constraints import ATOMIC, Kube, ObjectName, Shaped, map_by
from trainway.api.model import Model
from trainway.api.runtime_patch import Metadata
from trainway.json_types import Json


class PodSpecOverride(Model):
    """What a queue decides about pods."""

    node_selector: dict[str, str] = Field(default_factory=dict)
    """Labels that a node must have."""
    tolerations: Annotated[list[Annotated[Json, Kube("Toleration")]], ATOMIC, MaxLen(128)] = Field(
        default_factory=list
    )
    """Taints that the pods put up with, besides those of the runtime."""
    scheduling_gates: Annotated[
        list[Annotated[Json, Kube("PodSchedulingGate")]], map_by("name"), MaxLen(16)
    ] = Field(default_factory=list)
    """Gates that hold the pods back until someone removes them."""


class TargetJob(Model):
    """A replicated job that is changed."""

    name: ObjectName
    """Name of a replicated job of the runtime."""


class PodTemplateOverride(Model):
    """What a queue decides about the pods of replicated jobs."""

    target_jobs: Annotated[list[TargetJob], ATOMIC, MinLen(1), MaxLen(100)]
    """The replicated jobs whose pods are changed."""
    metadata: Metadata | None = None
    """Labels and annotations for the pods."""
    spec: Annotated[Json, Shaped(PodSpecOverride)] | None = None
    """Changes to the pods, merged into them as a strategic merge patch."""
