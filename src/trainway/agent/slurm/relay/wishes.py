"""What a server wants to become of a job, and the next step towards it. Pure.

A job that runs is first asked to stop, so that its pods have their time; then it is ended, or put
back into the queue and held. A job that waits has nothing to be asked. One that leaves was
held before, and is ended at once.
"""

from __future__ import annotations

from trainway.agent.slurm.files.job_files import CANCEL, LEAVE, RUN, SUSPEND

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.agent.slurm.relay.queue_states import QueueState

WAIT, DONE = "wait", "done"
ASK, END, HOLD, REQUEUE, RELEASE = "ask", "end", "hold", "requeue", "release"
PATIENCE = 5.0
"""How much longer than its pods' time a job may take to stop."""
AGAIN = 15.0
"""How long a step may have no effect before it is tried again, in seconds."""


class Wish:
    """Something that is wanted of a job."""

    def __init__(self, kind: str, now: float, grace: float, after: Wish | None = None) -> None:
        """`after` is what was wanted before, and may be half done."""
        self.kind = kind
        self.grace = grace
        self.since = self.made_at = now
        self.steps: dict[str, float] = {}
        """When each step was last taken."""
        self.has_stopped_at: float | None = None
        """When its driver was seen to have stopped all pods."""
        if after is not None and (after.kind, kind) == (SUSPEND, RUN):
            self.since, self.steps = after.since, dict(after.steps)
            self.has_stopped_at = after.has_stopped_at

    def took(self, step: str, now: float) -> None:
        """A step was taken."""
        self.steps[step] = now

    def next_step(self, state: QueueState | None, now: float, *, is_over: bool) -> str:
        """What to do now."""
        if is_over:
            return DONE
        if state is None:
            return WAIT
        if self.kind in (CANCEL, LEAVE):
            return self._once(self._cancel(state, now), now)
        if self.kind == SUSPEND:
            return self._once(self._suspend(state, now), now)
        return self._once(self._run(state, now), now)

    def _once(self, step: str, now: float) -> str:
        last = self.steps.get(step)
        return WAIT if last is not None and now - last < AGAIN else step

    def _cancel(self, state: QueueState, now: float) -> str:
        if state.is_waiting or END in self.steps:
            return END
        if self.grace <= 0 or self._is_late(now):
            return END
        return WAIT if ASK in self.steps else ASK

    def _suspend(self, state: QueueState, now: float) -> str:
        if state.is_held:
            return DONE
        if state.is_waiting:
            return HOLD
        if REQUEUE in self.steps or self.has_stopped_at is not None or self._is_late(now):
            return REQUEUE
        return WAIT if ASK in self.steps else ASK

    def _run(self, state: QueueState, now: float) -> str:
        """A job that was asked to stop has no way back but through the queue."""
        if state.is_held:
            return RELEASE
        if RELEASE in self.steps or not {ASK, HOLD} & set(self.steps):
            return DONE
        if state.is_waiting:
            begun = max(self.steps.values())
            return WAIT if now - begun < AGAIN else DONE
        return REQUEUE if self.has_stopped_at is not None or self._is_late(now) else WAIT

    def _is_late(self, now: float) -> bool:
        """Whether the job had all the time that it should have, or has had nothing to do."""
        if self.has_stopped_at is not None and now - self.has_stopped_at >= PATIENCE:
            return True
        return ASK in self.steps and now - self.since >= self.grace + PATIENCE


def words(step: str, number: str) -> list[str]:
    """The program that takes a step; what somebody with more rights holds, its user cannot."""
    return {
        ASK: ["scancel", "--batch", "--signal=TERM", number],
        END: ["scancel", "--full", number],
        HOLD: ["scontrol", "uhold", number],
        REQUEUE: ["scontrol", "requeuehold", number],
        RELEASE: ["scontrol", "release", number],
    }[step]
