"""What all options are, and the one that every backend knows."""

from collections.abc import Callable
from dataclasses import dataclass

from trainway.json_types import Json
from trainway.sdk.kubeflow.types.types import Trainer

Option = Callable[[Json, Trainer | None, object], None]
"""A function that gets the TrainJob to change, the trainer it was made from, and the client."""


@dataclass
class Name:
    """The name of the job, in place of a random one."""

    name: str

    def __call__(self, job_spec: Json, _trainer: Trainer | None, _backend: object) -> None:
        """Set it."""
        job_spec.setdefault("metadata", {})["name"] = self.name
