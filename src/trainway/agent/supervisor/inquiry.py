"""Whether a failure is the job's own.

When a host dies, the pods that talked to one on it often fail at once, long before it is known that
the host is gone. So a failure is held back until every other host of the gang has been heard since:
if one of them turns out to be lost, the job begins anew, and the failure counts for nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trainway.json_types import Json


class Suspect:
    """A host that may be gone."""

    def __init__(self) -> None:
        self.has_answered = False
        self.last = -1
        """The record up to which it must have been heard besides."""


class Inquiry:
    """Records of hosts that wait until it is clear what they mean."""

    def __init__(self, ask: Callable[[str], object]) -> None:
        """`ask` sends a host something that it answers at once, if it can."""
        self._ask = ask
        self._held: list[tuple[str, Json]] = []
        self._suspects: dict[str, Suspect] = {}

    def holds(self, host: str) -> bool:
        """Whether something of a host waits, so that all that follows must wait too."""
        return any(name == host for name, _ in self._held)

    def holds_pod(self, uid: str) -> bool:
        """Whether the end of a pod waits."""
        return any(frame.get("uid") == uid for _, frame in self._held)

    def hold(self, host: str, frame: Json, suspects: Iterable[str] = ()) -> None:
        """Keep a record back until all suspects have been heard."""
        self._held.append((host, frame))
        for name in suspects:
            if name not in self._suspects:
                self._suspects[name] = Suspect()
                self._ask(name)

    def connected(self, host: str, last: int) -> None:
        """A host is there again, with records up to that one: ask it once more."""
        suspect = self._suspects.get(host)
        if suspect is not None:
            suspect.has_answered, suspect.last = False, last
            self._ask(host)

    def answered(self, host: str) -> None:
        """A host has answered."""
        suspect = self._suspects.get(host)
        if suspect is not None:
            suspect.has_answered = True

    def lost(self, host: str) -> None:
        """A host will not answer."""
        self._suspects.pop(host, None)

    def released(self, seqs: Callable[[str], int]) -> list[tuple[str, Json]]:
        """What needs to wait no more, where the records of hosts are here up to those numbers."""
        self._suspects = {
            name: suspect
            for name, suspect in self._suspects.items()
            if not suspect.has_answered or seqs(name) < suspect.last
        }
        if self._suspects:
            return []
        held, self._held = self._held, []
        return held
