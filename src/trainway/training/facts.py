"""All that is to be known of one job in a cluster, gathered for whoever describes it.

Somebody may see jobs and not see events or Workloads; what is refused is left out and noted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from trainway.errors import TrainwayError
from trainway.json_types import Json
from trainway.training.cluster_jobs import ClusterJobs
from trainway.training.cluster_logs import last_lines
from trainway.training.members import LAUNCHER, Member, culprit, newest
from trainway.training.state import State, queue_of, status_of

_LINES: Final = 10
_STOPPED: Final = frozenset({State.QUEUED, State.SUSPENDED, State.SUCCEEDED})
"""The pods of such a job are stopped if they run, and how they end then says nothing of it."""


@dataclass(frozen=True)
class Facts:
    """A job, and what belongs to it."""

    job: Json
    members: Sequence[Member] = ()
    events: Sequence[Json] = ()
    workload: Json | None = None
    position: int | None = None
    """The place in the queue, from 1 on; None: not known."""
    culprit: Member | None = None
    spoke: Member | None = None
    lines: Sequence[str] = ()
    """The last lines of the member that spoke."""
    refused: Sequence[str] = ()
    """What could not be seen, and why."""


async def facts_of(jobs: ClusterJobs, name: str) -> Facts:
    """Ask for all of it."""
    job = await jobs.get(name)
    refused: list[str] = []
    members: Sequence[Member] = ()
    events: Sequence[Json] = ()
    try:
        members, _ = await jobs.members(name)
    except TrainwayError as error:
        refused.append(f"pods: {error.message}")
    try:
        events = await jobs.events(name, {member.name for member in members})
    except TrainwayError as error:
        refused.append(f"events: {error.message}")
    workload = await jobs.workload(job) if queue_of(job) else None
    position = await jobs.position(workload) if workload else None
    guilty = None if status_of(job).state in _STOPPED else culprit(members)
    spoke = guilty if guilty and guilty.has_started else newest(members, LAUNCHER, 0)
    lines = await last_lines(jobs, spoke, _LINES) if spoke and spoke.has_started else []
    return Facts(job, members, events, workload, position, guilty, spoke, lines, refused)
