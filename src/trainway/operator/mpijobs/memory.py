"""What the controller remembers of the jobs it has worked on.

Nothing depends on it but the number of requests: after a restart all is applied once more, which
changes nothing.
"""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Applied:
    """An object as it was last written."""

    digest: str
    version: str = ""
    """What the API server calls the state that came of it."""


@dataclass(slots=True)
class JobMemory:
    """What was written for one job."""

    uid: str
    applied: dict[str, Applied] = field(default_factory=dict)
    """What was applied, by kind."""
    launcher: str = ""
    """The launcher that was told to the metrics."""
    restarts: int | None = None
    """Restarts of the launcher that the metrics know of; None: nobody has looked yet."""
    complaints: set[str] = field(default_factory=set)
    """Why pods could not be created, as it was told in events."""

    def more_restarts(self, before: int | None, now: int | None) -> int:
        """Restarts that nobody has counted, from what an old and a new status say.

        Those before our first look are another operator's.
        """
        known = (before or 0) if self.restarts is None else self.restarts
        self.restarts = known if now is None else now
        return max(self.restarts - known, 0)

    def is_applied(self, kind: str, digest: str) -> bool:
        """Whether the object of that kind was last written like this."""
        return kind in self.applied and self.applied[kind].digest == digest

    def forget_other(self, kind: str, version: str) -> None:
        """Somebody wrote the object, or removed it (no version): ours is no longer there."""
        if kind in self.applied and self.applied[kind].version != version:
            del self.applied[kind]


class Memory:
    """All jobs, by key. A new job of an old name starts afresh."""

    def __init__(self) -> None:
        self._jobs: dict[str, JobMemory] = {}

    def of(self, key: str, uid: str) -> JobMemory:
        """What is remembered of a job."""
        found = self._jobs.get(key)
        if found is None or found.uid != uid:
            found = self._jobs[key] = JobMemory(uid)
        return found

    def known(self, key: str) -> JobMemory | None:
        """The same, where there is anything."""
        return self._jobs.get(key)

    def forget(self, key: str) -> JobMemory | None:
        """The job is gone."""
        return self._jobs.pop(key, None)
