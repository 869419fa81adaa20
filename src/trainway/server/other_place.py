"""A job for a place that it may go to while it waits, as a submission has it."""

from pydantic import BaseModel, ConfigDict, Field

from trainway.engine.placement.offer import Prefer
from trainway.json_types import Json


class OtherPlace(BaseModel):
    """The same job, as it would be submitted to another place."""

    model_config = ConfigDict(extra="forbid")

    backend: str = Field(min_length=1, max_length=253, description="the place")
    objects: list[Json] = Field(description="the job there, and what it needs")
    kubeconfig: tuple[str, ...] = Field((), description="the submitter's kubeconfig files")
    environ: dict[str, str] = Field({}, description="environment below the containers' own")


class TaskPlacement(BaseModel):
    """Where a task of a pipeline may run."""

    model_config = ConfigDict(extra="forbid")

    places: list[str] = Field(min_length=1, max_length=100, description="in order")
    prefer: Prefer = Field(Prefer.ORDER, description="what counts between places of the same fit")
