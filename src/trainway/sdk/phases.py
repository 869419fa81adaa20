"""The phases of a job as clients see them. The server decides on them; see its state machine."""

from collections.abc import Mapping
from typing import Any, Final

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
_ABANDONED: Final = "Abandoned"
"""The reason of a job that was forgotten while its cluster did not answer."""


def remains(deleted: Mapping[str, Any]) -> str:
    """What may be left of a job that was deleted by force, and how to remove it; empty: nothing."""
    status = deleted.get("status") or {}
    return str(status.get("message")) if status.get("reason") == _ABANDONED else ""
