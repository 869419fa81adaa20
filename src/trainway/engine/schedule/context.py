"""What schedules need of the engine that they are part of."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from trainway.backends.registry import Registry
from trainway.engine.ids import Ids
from trainway.engine.intake import Intake
from trainway.engine.ledger import Ledger
from trainway.engine.live import LiveJob
from trainway.engine.live_jobs import LiveJobs
from trainway.engine.run.runs import Runs
from trainway.engine.submission import Submission
from trainway.engine.worker_pool.housing import Housing
from trainway.json_types import Json


class Submits(Protocol):
    """Takes in what is due, as it takes in what anybody submits."""

    @property
    def runs(self) -> Runs:
        """Several jobs as one."""
        ...

    @property
    def registry(self) -> Registry:
        """Where jobs can run."""
        ...

    @property
    def intake(self) -> Intake:
        """What checks jobs before they are stored."""
        ...

    @property
    def housing(self) -> Housing:
        """Where jobs live that are for a cloud."""
        ...

    async def submit(self, submission: Submission) -> tuple[Json, list[str]]:
        """One job."""
        ...

    async def submit_array(self, submission: Submission) -> tuple[list[Json], list[str]]:
        """The jobs of a run."""
        ...


@dataclass(frozen=True)
class ScheduleContext:
    """What schedules need of the engine."""

    ledger: Ledger
    ids: Ids
    clock: Callable[[], datetime]
    live: LiveJobs
    """The jobs that are not over."""
    submits: Submits
    cancel: Callable[[Sequence[LiveJob]], Awaitable[None]]
