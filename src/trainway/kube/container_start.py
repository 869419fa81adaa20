"""When a container started, by its status. Pure.

Of one that could not be started (no such program, a mount that fails) the kubelet says that it
ended, and that it started in 1970. Whoever believes that counts decades.
"""

from collections.abc import Mapping
from typing import Any, Final

_NEVER: Final = "1970-01-01T00:00:00Z"


def started_at(state: Mapping[str, Any]) -> str:
    """The time in a state `running` or `terminated`; empty: it never started."""
    told = state.get("startedAt") or ""
    return "" if told == _NEVER else str(told)
