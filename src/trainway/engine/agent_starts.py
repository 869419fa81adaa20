"""How often, and after which pauses, an agent that could not be started is started again.

What keeps an agent from starting is mostly the machine's fault and passes: memory that was short
for a moment, a killed process, a full disk. Nothing of the job has run, so this is none of the
restarts that its owner allows; instead it has a bound of its own, in number and hence in time.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class StartPolicy:
    """The pauses double from the first to the longest."""

    most: int = 10
    first_pause_s: float = 1.0
    longest_pause_s: float = 60.0

    def pause_s(self, failures: int) -> float:
        """How long to wait after so many failures in a row."""
        return min(self.first_pause_s * 2.0 ** (failures - 1), self.longest_pause_s)

    @property
    def longest_wait_s(self) -> float:
        """All pauses together."""
        return sum(self.pause_s(failures) for failures in range(1, self.most))


USUAL: Final = StartPolicy()


class FailedStarts:
    """The failures of one job, in a row."""

    def __init__(self, policy: StartPolicy) -> None:
        self._policy = policy
        self._first = ""
        self.count = 0

    def note(self, why: str) -> float | None:
        """Count one more; how long to wait for the next start, None where there is none."""
        self.count += 1
        self._first = self._first or why
        if self.count >= self._policy.most:
            return None
        return self._policy.pause_s(self.count)

    def clear(self) -> None:
        """Forget them: an agent has started."""
        self.count, self._first = 0, ""

    def summary(self, last: str) -> str:
        """What is said of a job that is given up; the first failure tells most."""
        times = f"it was tried {self.count} times" if self.count > 1 else "it was tried once"
        return f"{self._first}; {times}" + (f", at last: {last}" if last != self._first else "")
