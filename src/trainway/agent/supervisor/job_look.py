"""When a Job was last looked at: a Job of which there is no news need not be looked at again."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.agent.controllers.job import Job


class Look:
    """When a Job was last looked at, what was wanted of it then, and when to look again."""

    def __init__(self, job: Job, again_at: float | None) -> None:
        self.wish = (job.suspend, job.deleting)
        self.again_at = again_at

    def is_due(self, job: Job, now: float) -> bool:
        """Whether something else is wanted of the Job by now, or its time has come."""
        if self.wish != (job.suspend, job.deleting):
            return True
        return self.again_at is not None and self.again_at <= now
