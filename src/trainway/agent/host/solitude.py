"""When a rented machine that nobody looks after any more is to shut itself down.

Pure: the time comes in from outside. What counts is the time that was really watched: each look
adds what passed since the last one, and never more than a little, so neither a clock that jumps nor
a machine that was asleep ends anything.
"""

from __future__ import annotations

LONGEST_STEP = 30.0
"""What one look adds at most, in seconds."""


class Solitude:
    """How long a machine has been alone: nobody was heard, and nothing ran."""

    def __init__(self, now: float) -> None:
        self.seconds = 0.0
        self._looked_at = now

    def end(self) -> None:
        """Somebody was heard."""
        self.seconds = 0.0

    def look(self, now: float, *, busy: bool) -> None:
        """Some time has passed."""
        passed = min(max(0.0, now - self._looked_at), LONGEST_STEP)
        self._looked_at = now
        self.seconds = 0.0 if busy else self.seconds + passed

    def is_over(self, limit: float | None) -> bool:
        """Whether it has lasted for long enough; without a limit, never."""
        return limit is not None and self.seconds >= limit
