"""Whether pods may go on when their owner is not heard any more. Pure: times and counts come in.

The owner counts a host as lost after a while, and starts its pods elsewhere if it is with the
majority of the pool. So a host that hears nothing asks its peers; together with those it can reach
it must be a majority, else it is the one that was cut off, and stops. An owner that went to sleep
stops nothing, since the hosts still see each other.
"""

from __future__ import annotations

GO_ON, PROBE, STOP = "go on", "probe", "stop"
SILENCE = 3.0
"""How long the owner may be silent before peers are asked, in seconds."""
PATIENCE = 4.0
"""How long there may be no majority before all is stopped, in seconds."""


class Lease:
    """What one owner's pods may count on."""

    def __init__(self, now: float) -> None:
        self._heard = now
        self._majority = now
        self._lacking = False
        """Whether the last probe found no majority."""
        self._peers = 0
        self._votes = 1
        self.expired = False
        """Whether everything was stopped; nothing may start before the owner says hello again."""

    def renew(self, now: float, *, peers: int, votes: int) -> None:
        """The owner said hello: there are so many other hosts, and so many votes with its own."""
        self._peers, self._votes = peers, votes
        self.expired = False
        self.heard(now)

    def heard(self, now: float) -> None:
        """Something came from the owner."""
        self._heard = now
        self._lacking = False

    def probed(self, now: float, reached: int) -> None:
        """So many peers answered."""
        self._lacking = 2 * (1 + reached) <= self._votes
        if not self._lacking:
            self._majority = now

    def step(self, now: float) -> str:
        """What is to be done now; to be asked every second, and after each probe."""
        if not self._peers or self.expired or now - self._heard < SILENCE:
            return GO_ON
        limit = max(self._heard + SILENCE, self._majority) + PATIENCE
        if self._lacking and now >= limit:
            return STOP
        return PROBE
