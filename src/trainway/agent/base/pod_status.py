"""What the Job controller sees of a pod."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

TERMINAL = ("Succeeded", "Failed")
HEALTH_CHECK_FAILED = "HealthCheckFailed"
"""The reason of a pod whose node cannot do what its gang needs, before anything ran there."""
PEER_UNHEALTHY = "PeerUnhealthy"
"""The reason of one that has found another node of its gang so, which did not say it itself."""
NODE_SET_ASIDE = "NodeSetAside"
"""The event about a node that failed a health check, which other jobs avoid from then on."""


class PodStatus:
    """A pod at one moment."""

    def __init__(  # noqa: PLR0913 - one value, many facts, all given by name
        self,
        uid: str,
        *,
        name: str = "",
        index: int | None = None,
        phase: str = "Pending",
        ready: bool = False,
        deleted: bool = False,
        exit_codes: Sequence[tuple[str, int]] = (),
        restart_times: Sequence[float] = (),
        finished_at: float = 0.0,
        disrupted: bool = False,
        placed: bool = True,
    ) -> None:
        self.uid = uid
        self.name = name
        self.index = index
        self.phase = phase
        self.ready = ready
        self.deleted = deleted
        """Whether the pod is being stopped, or was stopped."""
        self.exit_codes = list(exit_codes)
        """The exit codes of the containers that ended, main ones first."""
        self.restart_times = list(restart_times)
        """The times at which containers were started once more within the pod."""
        self.finished_at = finished_at
        self.disrupted = disrupted
        """Whether the pod failed through no fault of its own."""
        self.placed = placed
        """Whether there is room for it; one without waits."""

    @property
    def terminal(self) -> bool:
        """Whether all of its containers ended for good."""
        return self.phase in TERMINAL

    @property
    def active(self) -> bool:
        """Whether it counts as running: neither ended nor being stopped."""
        return not self.terminal and not self.deleted
