"""What differs between MPIJobs and TrainJobs for whoever creates, suspends and scales them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from trainway.api.mpijob_wishes import with_workers
from trainway.json_types import Json
from trainway.kube.resources import MPIJOBS, TRAINJOBS, Resource
from trainway.training.members import mpijob_pods, trainjob_pods


@dataclass(frozen=True)
class JobKind:
    """One kind of job."""

    resource: Resource
    command: str
    """The subcommand of `trainway` for it; empty: there is none."""
    suspension: Callable[[bool], Json]
    """The merge patch that suspends a job, or resumes it."""
    scaling: Callable[[Json, int], Json]
    """The merge patch that gives a job so many workers."""
    pods: Callable[[str], str]
    """The selector of the pods of a job."""
    first: str
    """The role whose log is shown."""

    @property
    def one(self) -> str:
        """`an MPIJob`, as a sentence has it."""
        return f"{'an' if self.title.startswith('M') else 'a'} {self.title}"

    @property
    def title(self) -> str:
        """Its name."""
        return self.resource.kind

    @property
    def printed(self) -> str:
        """As kubectl names it before a slash and the name of an object."""
        return f"{self.resource.kind.lower()}.{self.resource.group}"


MPIJOB: Final = JobKind(
    resource=MPIJOBS,
    command="mpijob",
    suspension=lambda suspend: {"spec": {"runPolicy": {"suspend": suspend}}},
    scaling=with_workers,
    pods=mpijob_pods,
    first="launcher",
)
TRAINJOB: Final = JobKind(
    resource=TRAINJOBS,
    command="",
    suspension=lambda suspend: {"spec": {"suspend": suspend}},
    scaling=lambda _job, workers: {"spec": {"trainer": {"numNodes": workers}}},
    pods=trainjob_pods,
    first="node",
)
