"""Why the objects of a TrainJob cannot be made, as its author reads it."""

from typing import Final

from trainway.api.kinds import check
from trainway.errors import TrainwayError
from trainway.json_types import Json

REASON: Final = "TrainJobResourcesCreationFailed"
_LONGEST: Final = 950


class BuildError(TrainwayError):
    """The objects of a TrainJob cannot be made as things are."""

    code = "build"

    def __init__(self, message: str, *, missing_runtime: bool = False) -> None:
        super().__init__(" ".join(message.split()))
        self.missing_runtime = missing_runtime


def shortened(message: str) -> str:
    """The message, cut to what an event can hold."""
    return message if len(message) <= _LONGEST else f"{message[:_LONGEST]} ..."


def event_message(message: str) -> str:
    """The text of the event."""
    return f"TrainJob resources reconciliation failed: {shortened(message)}"


def field_problems(obj: Json, error: ValueError) -> str:
    """What is wrong with an object that our models cannot read."""
    found = [str(problem) for problem in check(obj).errors]
    return "; ".join(found) or " ".join(str(error).split())
