"""What clusters on this machine hold of it: their whole share, while any of their jobs runs.

A worker of a worker pool holds its share all the time.

A cluster that idles holds nothing. Its next job waits in the queue of this machine until the share
of its cluster is free; the jobs behind it go with it, and the cluster's own queue sorts them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from trainway.agent.controllers.gang_queue import turn
from trainway.engine.cluster.record import ClusterRecord
from trainway.engine.live import LiveJob
from trainway.engine.queue import Decision, Holding, QueuedGang, names_of
from trainway.engine.record import JobRecord
from trainway.engine.under_way import is_under_way
from trainway.families.builtin import HELD
from trainway.jobset.labels import CLUSTER_JOB


@dataclass(frozen=True)
class Group:
    """The jobs of an idle cluster that wait for its share; the first stands for all of them."""

    cluster: ClusterRecord
    jobs: Sequence[LiveJob]

    @property
    def first(self) -> LiveJob:
        """The one that is next."""
        return self.jobs[0]

    @property
    def gang(self) -> QueuedGang:
        """What the queue of this machine has of them."""
        record, name = self.first.record, self.cluster.name
        return QueuedGang(
            record.id,
            self.cluster.shape.demand(),
            record.priority,
            record.oversubscribe,
            self.cluster.device_map,
            _title(name, [_number(record)]),
            _release(name, [_number(record)]),
        )

    def told(self, decision: Decision) -> dict[str, str]:
        """Why each of them waits; nothing where they start, or never could."""
        why = decision.waiting.get(self.first.id)
        if why is None:
            return {}
        behind = turn(self.gang.name)
        return {live.id: why if live is self.first else behind for live in self.jobs}


class Shares:
    """What of this machine belongs to clusters."""

    def __init__(
        self,
        records: Mapping[str, ClusterRecord],
        jobs: Callable[[str], Sequence[JobRecord]],
    ) -> None:
        self._records = records
        self._jobs = jobs
        """Gives the jobs of a backend that are not over, whether they could be taken up or not."""

    def holdings(self) -> list[Holding]:
        """What is held now, by the jobs that run."""
        found = []
        for record in self._records.values():
            if record.worker_pool and record.is_promised:
                found.append(_held_by_worker(record))
                continue
            running = self._running(record) if record.is_promised else []
            if running:
                numbers = sorted(map(_number, running))
                found.append(
                    Holding(
                        record.shape.demand(),
                        record.device_map,
                        _title(record.name, numbers),
                        _release(record.name, numbers),
                    )
                )
        return found

    def promised(self) -> set[str]:
        """The GPUs that clusters want for their jobs, whether they run or not."""
        clusters = [record for record in self._records.values() if record.is_promised]
        return {name for record in clusters for name in names_of(record.device_map)}

    def waits(self, live: LiveJob) -> bool:
        """Whether a job that is about to begin needs the share of its cluster first."""
        record = self._cluster(live)
        return record is not None and not record.worker_pool and not self._running(record)

    def is_setup(self, backend: str) -> bool:
        """Whether a job of this backend sets up a worker of a worker pool."""
        family, _, name = backend.partition("/")
        record = self._records.get(name) if family == HELD else None
        return record is not None and bool(record.worker_pool)

    def groups(self, waiting: Iterable[LiveJob]) -> list[Group]:
        """The jobs that wait for shares, by cluster, in their order."""
        by_cluster: dict[str, list[LiveJob]] = {}
        for live in sorted(waiting, key=lambda live: (-live.record.priority, live.id)):
            record = self._cluster(live)
            if record is not None:
                by_cluster.setdefault(record.name, []).append(live)
        return [Group(self._records[name], jobs) for name, jobs in by_cluster.items()]

    def _cluster(self, live: LiveJob) -> ClusterRecord | None:
        """The cluster of this machine that a job is for."""
        family, _, name = live.backend.name.partition("/")
        record = self._records.get(name) if family == HELD else None
        return record if record is not None and record.is_local else None

    def _running(self, record: ClusterRecord) -> list[JobRecord]:
        return [job for job in self._jobs(record.backend) if is_under_way(job)]


def _held_by_worker(record: ClusterRecord) -> Holding:
    """A worker holds its share whether it has a job or not: it is there to be ready."""
    return Holding(
        record.shape.demand(),
        record.device_map,
        f"worker {record.name} of the worker pool {record.worker_pool}",
        f"trainway jobs pool down {record.worker_pool}",
    )


def _number(job: JobRecord) -> int:
    return int(job.label_map.get(CLUSTER_JOB) or 0)


def _title(cluster: str, numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"job {numbers[0]} of cluster {cluster}"
    return f"cluster {cluster} with jobs {', '.join(map(str, numbers))}"


def _release(cluster: str, numbers: Sequence[int]) -> str:
    return f"trainway cancel {cluster} {' '.join(map(str, numbers))}"
