"""How long a JobSet waits before it starts anew. Pure.

JobSet itself starts anew at once, however often. A job whose every attempt ends soon, for which
restarts may not even count, would keep its hosts busy with nothing else. So only the first restarts
come at once; after each further attempt that ended soon the pause is twice as long, and a part of
it is left to chance, lest jobs that failed together start together. An attempt that lasted begins
the count anew, and so does another agent.
"""

from __future__ import annotations

AT_ONCE = 2
"""How many restarts in a row need not wait."""
FIRST_SECONDS = 1.0
LONGEST_SECONDS = 60.0
LASTING_SECONDS = 60.0
"""An attempt that took so long has not failed soon."""
JITTER = 0.5
"""The share of a pause by which it may be longer."""


def pause(soon: int, chance: float) -> float:
    """The pause after so many attempts in a row that ended soon; `chance` is from 0 to 1."""
    if soon <= AT_ONCE:
        return 0.0
    doubled = FIRST_SECONDS * 2.0 ** min(soon - AT_ONCE - 1, 16)
    return min(doubled, LONGEST_SECONDS) * (1 + JITTER * chance)


class RestartBackoff:
    """What is remembered of the attempts of one JobSet."""

    def __init__(self) -> None:
        self.soon = 0
        """How many attempts in a row have ended soon."""
        self.until = 0.0
        """The moment at which the next attempt may begin."""
        self._since: float | None = None

    def began(self, now: float) -> None:
        """Jobs may be made: the attempt begins, unless it has."""
        if self._since is None:
            self._since = now

    def ended(self, now: float, chance: float) -> float:
        """An attempt has ended and another is to follow; the pause before it."""
        has_lasted = self._since is not None and now - self._since >= LASTING_SECONDS
        self.soon = 1 if has_lasted else self.soon + 1
        self._since = None
        seconds = pause(self.soon, chance)
        self.until = now + seconds
        return seconds

    def is_due(self, now: float) -> bool:
        """Whether the next attempt may begin."""
        return now >= self.until
