"""The phases of a job as clients see them. The server decides on them; see its state machine."""

from typing import Final

SUCCEEDED: Final = "Succeeded"
FAILED: Final = "Failed"
CANCELLED: Final = "Cancelled"
TERMINAL: Final = frozenset({SUCCEEDED, FAILED, CANCELLED})
PHASES: Final = (
    "Pending",
    "Queued",
    "Inadmissible",
    "Starting",
    "Running",
    "Restarting",
    "Paused",
    "Stopping",
    SUCCEEDED,
    FAILED,
    CANCELLED,
)
