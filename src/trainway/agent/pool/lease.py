"""Which hosts are there: what was heard of each, and when one counts as lost. Pure.

A host that is silent gets no more frames, so that its own lease runs out: it stops what it runs
when it hears neither from us nor from most of the others. Some seconds after our last word it can
be taken for lost, but only while we hear most hosts: a laptop that was cut off itself decides
nothing, nor does one that just woke up.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

CONNECTING, UP, SILENT, LOST = "connecting", "up", "silent", "lost"
BACK = "back"
"""What is said once, when a lost host is heard again; then it is up."""
SILENT_SECONDS = 3.0
LOST_SECONDS = 8.5
"""How long after our last word a host is lost: its own lease has run out a second before
(`agent/host/lease.py`), and with the second until a ping is missed, ten have not passed."""
PING_SECONDS = 1.0
QUORUM_SECONDS = 8.0
"""How long we must have heard most hosts before we take another for lost: after a network has come
back, an attempt to connect that began before may take so long to fail and be followed by the next.
"""
LATE_SECONDS = 2.0
"""How long a pause may be before we must have been asleep ourselves, and it counts for nothing."""


class HostLease:
    """What we know of one host's life."""

    def __init__(self, now: float, *, lasting: bool = False) -> None:
        self.state = CONNECTING
        self.lasting = lasting
        """Whether it is never taken for lost, since somebody else says so."""
        self.heard_at = now
        self.sent_at = now
        """When we last said something that the host may have got."""
        self._pinged_at = now - PING_SECONDS

    @property
    def may_send(self) -> bool:
        """Whether to speak to it at all: not to one that does not answer."""
        return self.state in (CONNECTING, UP)

    def wants_ping(self, now: float) -> bool:
        """Whether to ask if it is there: once a second, and not while it owes us an answer.

        Whatever we say renews the lease of the host, and so our patience with it.
        """
        is_due = now - self._pinged_at >= PING_SECONDS
        return self.may_send and is_due and self.heard_at >= self._pinged_at

    def pinged(self, now: float) -> None:
        """We asked."""
        self._pinged_at = now

    def sent(self, now: float) -> None:
        """We said something."""
        self.sent_at = now

    def heard(self, now: float) -> list[str]:
        """It said something; what that changes."""
        self.heard_at = now
        before, self.state = self.state, UP
        if before == LOST:
            return [BACK, UP]
        return [] if before == UP else [UP]

    def shift(self, seconds: float, now: float) -> None:
        """Time passed in which we were asleep."""
        self.heard_at = min(now, self.heard_at + seconds)
        self.sent_at = min(now, self.sent_at + seconds)
        self._pinged_at = min(self.heard_at, self._pinged_at + seconds)


class Leases:
    """The hosts of a pool, and whether we hear most of them."""

    def __init__(self, now: float) -> None:
        self._hosts: dict[str, HostLease] = {}
        self._checked_at = now
        self._quorum_since: float | None = None

    def add(self, name: str, now: float, *, lasting: bool = False) -> HostLease:
        """Begin with a host; one that is known is kept."""
        return self._hosts.setdefault(name, HostLease(now, lasting=lasting))

    def remove(self, name: str) -> None:
        """A host is no longer one of the pool's."""
        self._hosts.pop(name, None)

    @property
    def votes(self) -> int:
        """All hosts and we."""
        return len(self._hosts) + 1

    def check(self, now: float) -> list[tuple[str, str]]:
        """Look at the time; the hosts whose state changes by it, with the new one."""
        pause = now - self._checked_at
        self._checked_at = now
        if pause > LATE_SECONDS:
            self._quorum_since = None
            for lease in self._hosts.values():
                lease.shift(pause, now)
        changes = []
        for name, lease in self._hosts.items():
            if lease.state in (CONNECTING, UP) and now - lease.heard_at >= SILENT_SECONDS:
                lease.state = SILENT
                changes.append((name, SILENT))
        if not self.has_quorum:
            self._quorum_since = None
            return changes
        if self._quorum_since is None:
            self._quorum_since = now
        if now - self._quorum_since < QUORUM_SECONDS:
            return changes
        for name, lease in self._hosts.items():
            is_late = lease.state == SILENT and now - lease.sent_at >= LOST_SECONDS
            if is_late and not lease.lasting:
                lease.state = LOST
                changes.append((name, LOST))
        return changes

    @property
    def has_quorum(self) -> bool:
        """Whether we hear most hosts."""
        return has_quorum(self._states(), self.votes)

    def _states(self) -> list[str]:
        return [lease.state for lease in self._hosts.values()]


def has_quorum(states: Iterable[str], votes: int) -> bool:
    """Whether those we hear and we are more than half."""
    heard = sum(1 for state in states if state == UP)
    return 2 * (1 + heard) > votes
