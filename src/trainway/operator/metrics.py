"""What the operator counts, and the page that Prometheus reads.

Controllers say what happened (`job_created`, `restart`, ...) and know no metric by name. What can
be counted at the moment of reading (queue depth, age of watches, jobs by phase) is a callback and
not a number to keep true.

`metric_table.py` has the names; docs/monitoring-reference.md is made from them.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final, Protocol

from trainway.operator import metric_table as table
from trainway.telemetry.api_requests import Answers, request_samples
from trainway.telemetry.job_metrics import OPERATOR_JOBS
from trainway.telemetry.metric import Sample
from trainway.telemetry.process import process_registry
from trainway.telemetry.registry import Registry

TRAIN_JOB: Final = "TrainJob"
MPI_JOB: Final = "MPIJob"
_SUCCEEDED: Final = frozenset({"Complete", "Succeeded"})
_ENDS: Final = {TRAIN_JOB: ("Complete", "Failed"), MPI_JOB: ("Succeeded", "Failed")}
_RESULTS: Final = {"ok": "success", "again": "requeue_after", "error": "error"}


class RestartCause(StrEnum):
    """Why all pods of a job were started again, as far as its JobSet says."""

    FAILURE = "failure"
    """A pod failed, and the restart counts towards `maxRestarts`."""
    UNCOUNTED = "uncounted"
    """The failure policy says that it does not count, as for a node that was taken away."""


class Queue(Protocol):
    """A queue of a controller."""

    adds: int
    retries: int

    @property
    def depth(self) -> int:
        """How many objects wait."""
        ...

    def oldest_age(self) -> float:
        """Seconds that the first has waited."""
        ...

    def ages_of_work(self) -> Iterable[float]:
        """Seconds that each object has been worked on so far."""
        ...


class Metrics:
    """The numbers of one operator."""

    def __init__(self) -> None:
        self.registry = Registry(
            (
                *table.JOB_METRICS,
                *table.CONTROLLER_METRICS,
                *table.WEBHOOK_METRICS,
                *table.MPI_METRICS,
            )
        )
        self._process = process_registry("operator")
        self._lookups = _Lookups()
        self.registry.collect(self._lookups.samples)
        for kind, phases in _ENDS.items():
            # Prometheus sees no growth of a counter that appears with its first event.
            self.registry.add(OPERATOR_JOBS.hangs, kind, amount=0)
            for phase in phases:
                self.registry.add(OPERATOR_JOBS.finished, kind, phase, amount=0)

    # What controllers say about jobs.

    def job_created(self, kind: str) -> None:
        """A job is seen for the first time."""
        self.registry.add(OPERATOR_JOBS.created, kind)
        if kind == MPI_JOB:
            self.registry.add(table.MPI_CREATED)

    def job_finished(self, kind: str, phase: str) -> None:
        """A job has ended; the phase is the type of its last condition."""
        self.registry.add(OPERATOR_JOBS.finished, kind, phase)
        if kind == MPI_JOB:
            is_success = phase in _SUCCEEDED
            self.registry.add(table.MPI_SUCCESSFUL if is_success else table.MPI_FAILED)

    def job_running(self, kind: str, seconds: float) -> None:
        """All pods of a job are ready, so long after it was created."""
        self.registry.observe(OPERATOR_JOBS.running, kind, value=seconds)

    def gang_wait(self, kind: str, seconds: float) -> None:
        """The last pod of a gang is ready, so long after the first was there."""
        self.registry.observe(table.GANG_WAIT, kind, value=seconds)

    def restart(self, kind: str, cause: RestartCause, count: int = 1) -> None:
        """A gang was started again."""
        self.registry.add(OPERATOR_JOBS.restarts, kind, cause, amount=count)

    def gpu_seconds(self, kind: str, namespace: str, seconds: float) -> None:
        """A job held GPUs; seconds times their number."""
        self.registry.add(OPERATOR_JOBS.gpu_seconds, kind, namespace, amount=seconds)

    def hang(self, kind: str) -> None:
        """A job reported progress and then stopped."""
        self.registry.add(OPERATOR_JOBS.hangs, kind)

    def mpi_job_info(self, launcher: str, namespace: str) -> None:
        """There is an MPIJob with this launcher."""
        self.registry.set(table.MPI_INFO, launcher, namespace, value=1)

    def mpi_job_gone(self, launcher: str, namespace: str) -> None:
        """The MPIJob was deleted."""
        self.registry.remove(table.MPI_INFO, launcher, namespace)

    # What the machinery says.

    def webhook_answered(self, path: str, code: int, seconds: float) -> None:
        """The API server had an answer."""
        self.registry.add(table.WEBHOOK_REQUESTS, path, str(code))
        self.registry.observe(table.WEBHOOK_LATENCY, path, value=seconds)

    def reviewed(self, kind: str, *, allowed: bool) -> None:
        """An object was let through or refused."""
        self.registry.add(table.REVIEWS, kind, str(allowed).lower())

    def on_start(self, name: str) -> None:
        """A controller begins with an object."""
        self.registry.add(table.ACTIVE_WORKERS, name)

    def on_end(self, name: str, seconds: float, outcome: str) -> None:
        """A controller is done with an object: `ok`, `again` (later), or `error` (and a retry)."""
        registry = self.registry
        registry.add(table.ACTIVE_WORKERS, name, amount=-1)
        registry.observe(table.RECONCILE_TIME, name, value=seconds)
        registry.observe(table.WORK_TIME, name, name, value=seconds)
        registry.add(table.RECONCILES, name, _RESULTS[outcome])
        if outcome == "error":
            registry.add(table.RECONCILE_ERRORS, name)

    def on_taken(self, name: str, seconds: float) -> None:
        """An object leaves the queue of a controller, after so long in it."""
        self.registry.observe(table.QUEUE_TIME, name, name, value=seconds)

    def leader(self, lease: str, *, is_leader: bool) -> None:
        """Say whether this replica runs the controllers."""
        self.registry.set(table.LEADER, lease, value=is_leader)
        self.registry.set(table.MPI_LEADER, value=is_leader)

    def show_queue(self, name: str, queue: Queue, workers: int) -> None:
        """Read the queue of a controller when asked."""
        self._lookups.queues[name] = queue
        self.registry.add(table.RECONCILE_ERRORS, name, amount=0)
        self.registry.set(table.WORKERS, name, value=workers)

    def show_watch(self, resource: str, age: Callable[[], float]) -> None:
        """Read when asked how long a watch has been silent."""
        self._lookups.watches[resource] = age

    def show_jobs(self, kind: str, by_phase: Callable[[], Mapping[str, int]]) -> None:
        """Count the jobs of a kind when asked."""
        self._lookups.jobs[kind] = by_phase

    def show_requests(self, host: str, answers: Answers) -> None:
        """Read when asked how many answers the API server gave, by method and status."""
        self._lookups.requests.append((host, answers))

    def show_certificate(self, end: Callable[[], datetime | None]) -> None:
        """Read when asked when the certificate of the webhooks ends."""
        self._lookups.certificate = end

    def page(self) -> bytes:
        """The text that Prometheus reads."""
        return (self.registry.page() + self._process.page()).encode()


class _Lookups:
    """Numbers that are looked up when somebody reads them."""

    def __init__(self) -> None:
        self.queues: dict[str, Queue] = {}
        self.watches: dict[str, Callable[[], float]] = {}
        self.jobs: dict[str, Callable[[], Mapping[str, int]]] = {}
        self.requests: list[tuple[str, Answers]] = []
        self.certificate: Callable[[], datetime | None] = lambda: None

    def samples(self) -> Iterable[Sample]:
        """All of them, now."""
        for name, queue in self.queues.items():
            yield from _queue_samples(name, queue)
        for resource, age in self.watches.items():
            yield Sample(table.WATCH_AGE, (resource,), age())
        for kind, by_phase in self.jobs.items():
            for phase, count in by_phase().items():
                yield Sample(OPERATOR_JOBS.jobs, (kind, phase), count)
        end = self.certificate()
        if end is not None:
            yield Sample(table.CERTIFICATE_END, (), end.timestamp())
        yield from request_samples(self.requests)


def _queue_samples(name: str, queue: Queue) -> Iterable[Sample]:
    both = (name, name)
    ages = list(queue.ages_of_work())
    yield Sample(table.DEPTH, both, queue.depth)
    yield Sample(table.ADDS, both, queue.adds)
    yield Sample(table.RETRIES, both, queue.retries)
    yield Sample(table.UNFINISHED, both, sum(ages))
    yield Sample(table.LONGEST, both, max(ages, default=0.0))
    yield Sample(table.OLDEST, (name,), queue.oldest_age())
