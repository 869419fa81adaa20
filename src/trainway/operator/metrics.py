"""What the operator counts, and the page that Prometheus reads.

Controllers say what happened (`job_created`, `restart`, ...) and know no metric by name. Everything
lives in a registry of its own, so that tests can have several. What can be counted at the moment of
reading (queue depth, age of watches, jobs by phase) is a callback and not a number to keep true.

docs/operator-metrics.md lists every metric; a test compares.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

MPI_JOB: Final = "MPIJob"
_SHORT_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_LONG_S: Final = (0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 14400, 86400)
_SUCCEEDED: Final = frozenset({"Complete", "Succeeded"})

disable_created_metrics()  # type: ignore[no-untyped-call] # prometheus_client has no types for it


class Metrics:
    """The counters of one operator."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._callbacks = _Callbacks()
        self.registry.register(self._callbacks)
        self._controllers()
        self._jobs()
        self._mpi()

    def _controllers(self) -> None:
        registry = self.registry
        self._of_controller: dict[str, _ControllerCounters] = {}
        self._reconcile = Histogram(
            "trainway_reconcile_seconds",
            "Time to work on one object",
            ["controller"],
            buckets=_SHORT_S,
            registry=registry,
        )
        self._reconciles = Counter(
            "trainway_reconcile_total",
            "Objects worked on",
            ["controller", "outcome"],
            registry=registry,
        )
        self._errors = Counter(
            "trainway_reconcile_errors_total",
            "Objects that could not be worked on",
            ["controller"],
            registry=registry,
        )
        self._retries = Counter(
            "trainway_reconcile_retries_total",
            "Objects queued again after an error",
            ["controller"],
            registry=registry,
        )
        self._active = Gauge(
            "trainway_reconcile_active", "Objects worked on now", ["controller"], registry=registry
        )
        self._leader = Gauge(
            "trainway_is_leader", "1 if this replica runs the controllers", registry=registry
        )
        self._webhook = Histogram(
            "trainway_webhook_seconds",
            "Time to answer the API server",
            ["kind", "allowed"],
            buckets=_SHORT_S,
            registry=registry,
        )

    def _jobs(self) -> None:
        registry = self.registry
        self._created = Counter(
            "trainway_jobs_created_total",
            "Jobs seen for the first time",
            ["kind"],
            registry=registry,
        )
        self._finished = Counter(
            "trainway_jobs_finished_total", "Jobs that ended", ["kind", "phase"], registry=registry
        )
        self._running = Histogram(
            "trainway_job_time_to_running_seconds",
            "From the creation of a job to the moment when all its pods are ready",
            ["kind"],
            buckets=_LONG_S,
            registry=registry,
        )
        self._restarts = Counter(
            "trainway_job_restarts_total", "Restarts of whole gangs", ["kind"], registry=registry
        )
        self._gpu = Counter(
            "trainway_gpu_seconds_total",
            "Seconds that running jobs held GPUs, times their number",
            ["kind", "namespace"],
            registry=registry,
        )
        self._gang = Histogram(
            "trainway_gang_wait_seconds",
            "From the first pod of a gang that is active to the last that is ready",
            ["kind"],
            buckets=_LONG_S,
            registry=registry,
        )
        self._hangs = Counter(
            "trainway_job_hangs_total",
            "Jobs that stopped reporting progress",
            ["kind"],
            registry=registry,
        )

    def _mpi(self) -> None:
        registry = self.registry
        self._mpi_created = Counter(
            "mpi_operator_jobs_created_total", "MPIJobs seen for the first time", registry=registry
        )
        self._mpi_successful = Counter(
            "mpi_operator_jobs_successful_total", "MPIJobs that succeeded", registry=registry
        )
        self._mpi_failed = Counter(
            "mpi_operator_jobs_failed_total", "MPIJobs that failed", registry=registry
        )
        self._mpi_info = Gauge(
            "mpi_operator_job_info",
            "1 for each MPIJob, by its launcher",
            ["launcher", "namespace"],
            registry=registry,
        )
        self._mpi_leader = Gauge(
            "mpi_operator_is_leader", "1 if this replica runs the controllers", registry=registry
        )

    # What controllers say about jobs.

    def job_created(self, kind: str) -> None:
        """A job is seen for the first time."""
        self._created.labels(kind).inc()
        if kind == MPI_JOB:
            self._mpi_created.inc()

    def job_finished(self, kind: str, phase: str) -> None:
        """A job has ended; the phase is the type of its last condition."""
        self._finished.labels(kind, phase).inc()
        if kind == MPI_JOB:
            (self._mpi_successful if phase in _SUCCEEDED else self._mpi_failed).inc()

    def job_running(self, kind: str, seconds: float) -> None:
        """All pods of a job are ready, so long after it was created."""
        self._running.labels(kind).observe(seconds)

    def gang_wait(self, kind: str, seconds: float) -> None:
        """The last pod of a gang is ready, so long after the first was there."""
        self._gang.labels(kind).observe(seconds)

    def restart(self, kind: str, count: int = 1) -> None:
        """A gang was started again."""
        self._restarts.labels(kind).inc(count)

    def gpu_seconds(self, kind: str, namespace: str, seconds: float) -> None:
        """A job held GPUs; seconds times their number."""
        self._gpu.labels(kind, namespace).inc(seconds)

    def hang(self, kind: str) -> None:
        """A job reported progress and then stopped."""
        self._hangs.labels(kind).inc()

    def mpi_job_info(self, launcher: str, namespace: str) -> None:
        """There is an MPIJob with this launcher."""
        self._mpi_info.labels(launcher, namespace).set(1)

    def mpi_job_gone(self, launcher: str, namespace: str) -> None:
        """The MPIJob was deleted."""
        self._mpi_info.remove(launcher, namespace)

    def webhook(self, kind: str, allowed: bool, seconds: float) -> None:
        """The API server had an answer."""
        self._webhook.labels(kind, str(allowed).lower()).observe(seconds)

    # What the machinery says.

    def on_start(self, name: str) -> None:
        """A controller begins with an object."""
        self._of(name).active.inc()

    def on_end(self, name: str, seconds: float, outcome: str) -> None:
        """A controller is done with an object: `ok`, `again` (later), or `error` (and a retry)."""
        counters = self._of(name)
        counters.active.dec()
        counters.seconds.observe(seconds)
        if outcome == "ok":
            counters.ok.inc()
            return
        self._reconciles.labels(name, outcome).inc()
        if outcome == "error":
            self._errors.labels(name).inc()
            self._retries.labels(name).inc()

    def _of(self, name: str) -> "_ControllerCounters":
        """The counters of a controller, looked up once."""
        found = self._of_controller.get(name)
        if found is None:
            found = self._of_controller[name] = _ControllerCounters(
                self._active.labels(name),
                self._reconcile.labels(name),
                self._reconciles.labels(name, "ok"),
            )
        return found

    def leader(self, is_leader: bool) -> None:
        """Say whether this replica runs the controllers."""
        self._leader.set(is_leader)
        self._mpi_leader.set(is_leader)

    def show_queue(self, name: str, depth: Callable[[], float], age: Callable[[], float]) -> None:
        """Read the queue of a controller when asked: how long it is, and how old its head."""
        self._callbacks.queues[name] = (depth, age)

    def show_watch(self, resource: str, age: Callable[[], float]) -> None:
        """Read when asked how long a watch has been silent."""
        self._callbacks.watches[resource] = age

    def show_jobs(self, kind: str, by_phase: Callable[[], Mapping[str, int]]) -> None:
        """Count the jobs of a kind when asked."""
        self._callbacks.jobs[kind] = by_phase

    def page(self) -> bytes:
        """The text that Prometheus reads."""
        return generate_latest(self.registry)


class _ControllerCounters(NamedTuple):
    """What changes with each object that a controller works on."""

    active: Gauge
    seconds: Histogram
    ok: Counter


class _Callbacks(Collector):
    """Numbers that are looked up when somebody reads them."""

    def __init__(self) -> None:
        self.queues: dict[str, tuple[Callable[[], float], Callable[[], float]]] = {}
        self.watches: dict[str, Callable[[], float]] = {}
        self.jobs: dict[str, Callable[[], Mapping[str, int]]] = {}

    def collect(self) -> Iterable[Metric]:
        depth = GaugeMetricFamily(
            "trainway_workqueue_depth", "Objects that wait to be worked on", labels=["controller"]
        )
        oldest = GaugeMetricFamily(
            "trainway_workqueue_oldest_seconds",
            "How long the object that has waited longest has waited",
            labels=["controller"],
        )
        for name, (length, age) in self.queues.items():
            depth.add_metric([name], length())
            oldest.add_metric([name], age())
        yield depth
        yield oldest
        watch = GaugeMetricFamily(
            "trainway_watch_age_seconds",
            "Time since the last sign of life of a watch",
            labels=["resource"],
        )
        for resource, age in self.watches.items():
            watch.add_metric([resource], age())
        yield watch
        jobs = GaugeMetricFamily(
            "trainway_jobs", "Jobs that exist, by kind and phase", labels=["kind", "phase"]
        )
        for kind, by_phase in self.jobs.items():
            for phase, count in by_phase().items():
                jobs.add_metric([kind, phase], count)
        yield jobs
