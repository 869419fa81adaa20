from types import SimpleNamespace
from typing import Any

import pytest

from trainway.agent.slurm.files.job_files import RUN, SUSPEND
from trainway.agent.slurm.relay.queue_states import QueueState
from trainway.agent.slurm.relay.requeue_limit import (
    FIRST_SECONDS,
    LONGEST_SECONDS,
    REASON,
    RequeueLimit,
    pause_after,
)


class Site:
    """A relay's commands, its clock, and one job."""

    def __init__(self) -> None:
        self.now = 0.0
        self.ran: list[list[str]] = []
        commands: Any = SimpleNamespace(run=self._run)
        queue: Any = SimpleNamespace(poke=lambda: None)
        self.limit = RequeueLimit(commands, queue, lambda: self.now)

    def _run(self, argv: list[str], on_end: Any) -> None:
        self.ran.append(argv)
        on_end(None)

    def look(self, now: float, reason: str = REASON, wished: str = RUN) -> int:
        """How often it was released until then."""
        self.now = now
        state = QueueState("7", "PENDING", reason=reason)
        files = SimpleNamespace(wished=wished)
        job: Any = SimpleNamespace(number="7", state=state, is_waiting=True, files=files)
        self.limit.look([job])
        return len(self.ran)


def test_a_job_that_is_wanted_is_released_after_pauses_that_grow() -> None:
    site = Site()
    assert site.look(0.0) == 0
    assert site.look(FIRST_SECONDS) == 1
    assert site.ran == [["scontrol", "release", "7"]]
    site.look(6.0, reason="Priority")
    assert site.look(10.0) == 1
    assert site.look(10.0 + FIRST_SECONDS) == 1
    assert site.look(10.0 + 2 * FIRST_SECONDS) == 2


@pytest.mark.parametrize(("reason", "wished"), [(REASON, SUSPEND), ("JobHeldUser", RUN)])
def test_what_somebody_holds_stays_held(reason: str, wished: str) -> None:
    site = Site()
    assert [site.look(now, reason, wished) for now in (0.0, 1000.0)] == [0, 0]


def test_pauses_have_an_end() -> None:
    assert pause_after(0) == FIRST_SECONDS
    assert pause_after(1000) == LONGEST_SECONDS
