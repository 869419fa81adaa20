"""Why a job was restarted, in one of a few words. Pure."""

from enum import StrEnum
from typing import Final

from trainway.json_types import Json

_SIGNALLED: Final = 128


class RestartCause(StrEnum):
    """What the node did that failed first."""

    HANG = "hang"
    OUT_OF_MEMORY = "out_of_memory"
    NOT_STARTED = "not_started"
    """Its program or image could not be started."""
    NODE = "node"
    """Its host was lost, or took it away."""
    SIGNAL = "signal"
    EXIT_CODE = "exit_code"
    UNKNOWN = "unknown"


def restart_cause(culprit: Json) -> RestartCause:
    """The cause, by the node that failed first as `engine/failure.py` has it."""
    code = int(culprit.get("exitCode") or 0)
    rules = (
        (culprit.get("hung"), RestartCause.HANG),
        (culprit.get("outOfMemory"), RestartCause.OUT_OF_MEMORY),
        (culprit.get("notStarted"), RestartCause.NOT_STARTED),
        (culprit.get("reason"), RestartCause.NODE),
        (code > _SIGNALLED, RestartCause.SIGNAL),
        (code, RestartCause.EXIT_CODE),
    )
    return next((cause for holds, cause in rules if holds), RestartCause.UNKNOWN)
