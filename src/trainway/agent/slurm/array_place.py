"""The place of a job in an array of Slurm."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.json_types import Json

ARRAYS = "arrays"


class ArrayPlace:
    """Which one a job is of how many, and of which array."""

    def __init__(self, data: Json) -> None:
        self.id = str(data["id"])
        self.rank = int(data["rank"])
        self.count = int(data["count"])

    @property
    def owner(self) -> str:
        """By which the job is known where only the array has a comment."""
        return f"{self.id}_{self.rank}"

    @property
    def folder(self) -> str:
        """The directory of the array, below that of all jobs."""
        return f"{ARRAYS}/{self.id}"
