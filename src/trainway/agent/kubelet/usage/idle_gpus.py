"""Which GPUs have done nothing for long. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

IDLE_SECONDS = 600.0
BUSY_PERCENT = 1.0


class IdleGpus:
    """The GPUs of one pod."""

    def __init__(self, idle_seconds: float = IDLE_SECONDS) -> None:
        self._idle_seconds = idle_seconds
        self._since: dict[str, float] = {}
        """When each GPU was first seen to do nothing."""
        self._told: set[str] = set()

    def note(self, utilization: Mapping[str, float], now: float) -> tuple[list[str], list[str]]:
        """The GPUs that have by now been idle for so long, and those that are in use again."""
        idle, busy = [], []
        for gpu, percent in utilization.items():
            if percent >= BUSY_PERCENT:
                self._since.pop(gpu, None)
                if gpu in self._told:
                    self._told.remove(gpu)
                    busy.append(gpu)
            elif now - self._since.setdefault(gpu, now) >= self._idle_seconds:
                if gpu not in self._told:
                    idle.append(gpu)
                self._told.add(gpu)
        return idle, busy


def idle_message(gpus: list[str], seconds: float = IDLE_SECONDS) -> str:
    """`GPU 0 has been idle for 10 minutes`."""
    have = "has" if len(gpus) == 1 else "have"
    return f"{_named(gpus)} {have} been idle for {seconds / 60:.0f} minutes"


def busy_message(gpus: list[str]) -> str:
    """`GPUs 0 and 1 are in use again`."""
    return f"{_named(gpus)} {'is' if len(gpus) == 1 else 'are'} in use again"


def _named(gpus: list[str]) -> str:
    if len(gpus) == 1:
        return f"GPU {gpus[0]}"
    return f"GPUs {', '.join(gpus[:-1])} and {gpus[-1]}"
