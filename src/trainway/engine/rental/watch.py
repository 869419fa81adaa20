"""What has become of rented machines without us: what is taken back, gone, or has stopped itself.

Pure: a rental and what its cloud shows of it give what has changed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from trainway.engine.rental.record import Rental


class ChangeKind(StrEnum):
    """What has happened."""

    NOTICE = "notice"
    """A cloud is about to take machines back; they still run."""
    GONE = "gone"
    """Machines are gone, and others of the rental are still there."""
    STOPPED = "stopped"
    """All machines have stopped, as when their host stopped itself."""
    ENDED = "ended"
    """All machines are gone; the rental ends."""


@dataclass(frozen=True)
class RentalChange:
    """Something that happened to a rental, for those who subscribe."""

    kind: ChangeKind
    rental: Rental
    machines: Sequence[str]
    """The ids of those it is about."""
    at: str = ""
    """When it happens, where the cloud says so, as an ISO 8601 time in UTC."""
    why: str = ""
