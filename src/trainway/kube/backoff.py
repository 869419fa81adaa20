"""How long to wait before trying again: twice as long each time, with some chance in it.

Chance keeps many clients that were cut off at once from coming back at once.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Pauses that double from the first to the longest."""

    first: float
    longest: float

    def pause(self, failures: int, random: Callable[[], float]) -> float:
        """After so many failures in a row; between half and all of the doubled pause."""
        doubled = self.first * (1 << min(max(failures - 1, 0), 62))
        return min(doubled, self.longest) * (0.5 + random() / 2)


def retry_after(header: str | None, longest: float) -> float | None:
    """The seconds a server asked to wait; a date or nonsense counts as not said."""
    try:
        seconds = float(header or "")
    except ValueError:
        return None
    return min(seconds, longest) if seconds >= 0 else None
