"""How far the export of a job's output has come, as its record has it. Pure.

What became of the export never changes what became of the job.
"""

import json
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Final

from trainway.engine.phases import TERMINAL, Phase
from trainway.engine.record import JobRecord
from trainway.json_types import Json

MOST_ATTEMPTS: Final = 8
_FIRST_PAUSE_S: Final = 5.0
_LONGEST_PAUSE_S: Final = 300.0


class ExportState(StrEnum):
    """Where an export is."""

    WAITING = "Waiting"
    UPLOADING = "Uploading"
    DONE = "Done"
    FAILED = "Failed"


FOLLOWERS: Final = {
    ExportState.WAITING: {ExportState.UPLOADING, ExportState.FAILED},
    ExportState.UPLOADING: {
        ExportState.UPLOADING,  # a server was killed meanwhile
        ExportState.WAITING,
        ExportState.DONE,
        ExportState.FAILED,
    },
    ExportState.DONE: set(),
    ExportState.FAILED: set(),
}
"""What may follow what."""


@dataclass(frozen=True)
class Export:
    """Where the output goes, and how far that is."""

    uri: str
    state: ExportState = ExportState.WAITING
    attempts: int = 0
    message: str = ""
    files: int = 0
    size: int = 0

    @property
    def is_over(self) -> bool:
        """Whether nothing will change any more."""
        return not FOLLOWERS[self.state]

    @property
    def column(self) -> str:
        """As the record of a job has it."""
        return json.dumps(asdict(self))

    def became(
        self,
        state: ExportState,
        *,
        message: str = "",
        attempts: int | None = None,
        files: int = 0,
        size: int = 0,
    ) -> "Export":
        """The export in another state, and what is to be said of it there."""
        if state not in FOLLOWERS[self.state]:
            raise ValueError(f"an export cannot become {state} from {self.state}")
        return replace(
            self,
            state=state,
            message=message,
            attempts=self.attempts if attempts is None else attempts,
            files=files,
            size=size,
        )


def export_in(record: JobRecord) -> Export | None:
    """The export of a job; None: its output stays where it is."""
    if not record.export:
        return None
    found = json.loads(record.export)
    return Export(**{**found, "state": ExportState(found["state"])})


def is_due(record: JobRecord) -> bool:
    """Whether the output of a job is to be sent now."""
    found = export_in(record) if record.phase == Phase.SUCCEEDED else None
    return found is not None and not found.is_over


def pause_after(attempts: int) -> float:
    """How long to wait before another attempt."""
    return min(_FIRST_PAUSE_S * 2.0 ** (attempts - 1), _LONGEST_PAUSE_S)


def export_view(record: JobRecord) -> Json | None:
    """As the API shows it; a job that did not succeed exports nothing."""
    found = export_in(record)
    if found is None:
        return None
    is_in_vain = record.phase in TERMINAL and record.phase != Phase.SUCCEEDED
    shown: Json = {"uri": found.uri, "state": "Skipped" if is_in_vain else str(found.state)}
    if found.message:
        shown["message"] = found.message
    if found.state is ExportState.DONE:
        shown |= {"files": found.files, "bytes": found.size}
    return shown
