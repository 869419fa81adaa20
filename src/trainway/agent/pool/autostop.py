"""When a cluster that nobody uses stops itself. Pure: the time comes in from outside.

A cluster is idle while none of its jobs runs or waits. One that has had no job yet is left alone
for a minute at least: whoever makes a cluster sends its first job a moment later.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trainway.json_types import Json


FIRST_JOB_SECONDS = 60.0


class Autostop:
    """After how many idle minutes, and whether the cluster is gone then or only stopped."""

    def __init__(self, minutes: float, *, down: bool = False) -> None:
        self.minutes = minutes
        self.down = down

    def seconds_left(self, idle_since: float, now: float, *, had_job: bool) -> float:
        """How long an idle cluster still has; none: it is time."""
        patience = self.minutes * 60.0
        if not had_job:
            patience = max(patience, FIRST_JOB_SECONDS)
        return max(0.0, idle_since + patience - now)

    def to_json(self) -> Json:
        """Plain data."""
        return {"minutes": self.minutes, "down": self.down}


def read(data: Any) -> Autostop | None:
    """What `to_json` gave; None: it never stops by itself."""
    if not isinstance(data, dict) or data.get("minutes") is None:
        return None
    return Autostop(max(0.0, float(data["minutes"])), down=bool(data.get("down")))
