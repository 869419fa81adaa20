"""A managed queue, and what counts for it of jobs that are over, as they are stored."""

import json
from dataclasses import dataclass, replace

from trainway.queueing.queue_object import policy_of, spec_of
from trainway.queueing.queue_policy import QueuePolicy, QueueState


@dataclass(frozen=True)
class QueueRecord:
    """A row of the store."""

    name: str
    settings: str
    """The `spec` of its object, as JSON."""
    state: str
    created: str

    @property
    def policy(self) -> QueuePolicy:
        """The queue as decisions see it."""
        policy = policy_of(self.name, json.loads(self.settings))
        return replace(policy, state=QueueState(self.state))


@dataclass(frozen=True)
class EndedJob:
    """What the store has of a job that is over."""

    queue: str
    labels: str
    demand: str
    started: str
    finished: str
    ran_seconds: float | None


def record_of(policy: QueuePolicy, created: str) -> QueueRecord:
    """What is stored of a queue."""
    return QueueRecord(policy.name, json.dumps(spec_of(policy)), policy.state, created)
