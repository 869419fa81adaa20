"""Whether a container that ended is started again in its pod, and after how long.

The first restart comes at once, the next after 1 s, then 2, 4 and so on up to 300 s, where the
kubelet begins with 10 s. A container that ran for ten minutes starts with a clean record.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.json_types import Json


BACKOFF_BASE = 1.0
BACKOFF_MAX = 300.0
CLEAN_SECONDS = 600.0


def restarts(container: Json, pod_policy: str, exit_code: int) -> bool:
    """Whether the container runs again after it ended with that code."""
    policy = container.get("restartPolicy")
    if policy is not None:
        for rule in container.get("restartPolicyRules") or []:
            codes = rule.get("exitCodes") or {}
            listed = exit_code in (codes.get("values") or [])
            if rule.get("action") == "Restart" and listed == (codes.get("operator") == "In"):
                return True
    wanted = policy or pod_policy
    return wanted == "Always" or (wanted == "OnFailure" and exit_code != 0)


class CrashBackoff:
    """How long one container waits before it starts once more."""

    def __init__(self) -> None:
        self._crashes = 0

    def delay(self, ran_for: float) -> float:
        """The wait after a run of that length ended."""
        if ran_for >= CLEAN_SECONDS:
            self._crashes = 0
        self._crashes += 1
        if self._crashes == 1:
            return 0.0
        return float(min(BACKOFF_BASE * 2 ** min(self._crashes - 2, 32), BACKOFF_MAX))
