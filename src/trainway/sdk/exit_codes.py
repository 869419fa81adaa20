"""How a command or call ends that shows a job, in SkyPilot's numbers."""

from typing import Final

from trainway.json_types import Json
from trainway.sdk import phases

SUCCEEDED, FAILED, NOT_FINISHED, NOT_FOUND, CANCELLED = 0, 100, 101, 102, 103
_BY_PHASE: Final = {
    phases.SUCCEEDED: SUCCEEDED,
    phases.FAILED: FAILED,
    phases.CANCELLED: CANCELLED,
}


def exit_code(job: Json) -> int:
    """The number that stands for the phase of a job."""
    return _BY_PHASE.get(job["status"]["phase"], NOT_FINISHED)
