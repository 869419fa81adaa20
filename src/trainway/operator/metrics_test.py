from dataclasses import dataclass
from datetime import UTC, datetime

from prometheus_client.parser import text_string_to_metric_families

from trainway.operator import metric_table as table
from trainway.operator.metrics import Metrics, RestartCause
from trainway.telemetry.job_metrics import OPERATOR_JOBS
from trainway.telemetry.process import PROCESS_METRICS

END = datetime(2027, 1, 1, tzinfo=UTC)


@dataclass
class FixedQueue:
    adds: int = 5
    retries: int = 2
    depth: int = 3

    def oldest_age(self) -> float:
        return 0.5

    def ages_of_work(self) -> list[float]:
        return [1.0, 4.0]


def used() -> Metrics:
    """All metrics with a value."""
    metrics = Metrics()
    for kind in ("TrainJob", "MPIJob"):
        metrics.job_created(kind)
        metrics.job_finished(kind, "Failed")
        metrics.job_running(kind, 3)
        metrics.gang_wait(kind, 2)
        metrics.restart(kind, RestartCause.FAILURE)
        metrics.gpu_seconds(kind, "team", 12)
        metrics.hang(kind)
    metrics.job_finished("MPIJob", "Succeeded")
    metrics.mpi_job_info("pi-launcher", "team")
    metrics.webhook_answered("/validate", 200, 0.01)
    metrics.reviewed("TrainJob", allowed=True)
    metrics.on_start("trainjob")
    metrics.on_end("trainjob", 0.02, "error")
    metrics.on_taken("trainjob", 0.3)
    metrics.leader("lease", is_leader=True)
    metrics.show_queue("trainjob", FixedQueue(), workers=4)
    metrics.show_watch("jobsets", lambda: 7)
    metrics.show_jobs("TrainJob", lambda: {"Running": 2, "Failed": 1})
    metrics.show_requests("https://k", {("GET", "200"): 3})
    metrics.show_requests("https://k", {("GET", "200"): 4, ("POST", "<error>"): 1})
    metrics.show_certificate(lambda: END)
    return metrics


def test_every_metric_of_the_table_is_on_the_page_with_its_labels() -> None:
    families = {
        family.name + ("_total" if family.type == "counter" else ""): family
        for family in text_string_to_metric_families(used().page().decode())
    }
    defined = {metric.name: metric for metric in (*used().registry.metrics, *PROCESS_METRICS)}
    assert families.keys() == defined.keys()
    for name, family in families.items():
        assert (family.type, family.documentation) == (defined[name].type, defined[name].help)
        for found in family.samples:
            assert set(found.labels) - {"le"} == set(defined[name].labels), name


def test_mpi_jobs_count_twice_under_both_names() -> None:
    value = used().registry.value
    assert value(table.MPI_CREATED) == 1
    assert value(table.MPI_SUCCESSFUL) == 1
    assert value(table.MPI_FAILED) == 1
    assert value(OPERATOR_JOBS.finished, "MPIJob", "Succeeded") == 1
    assert value(OPERATOR_JOBS.created, "TrainJob") == 1
    assert value(table.MPI_LEADER) == 1


def test_an_mpi_job_that_is_gone_is_not_shown() -> None:
    metrics = used()
    labels = {"launcher": "pi-launcher", "namespace": "team"}
    assert metrics.registry.value(table.MPI_INFO, *labels.values()) == 1
    metrics.mpi_job_gone(**labels)
    metrics.mpi_job_gone(**labels)
    assert metrics.registry.value(table.MPI_INFO, *labels.values()) is None


def test_errors_are_counted_and_nothing_stays_active() -> None:
    metrics = used()
    value = metrics.registry.value
    assert value(table.RECONCILE_ERRORS, "trainjob") == 1
    assert value(table.RECONCILES, "trainjob", "error") == 1
    assert value(table.ACTIVE_WORKERS, "trainjob") == 0
    metrics.on_start("trainjob")
    assert value(table.ACTIVE_WORKERS, "trainjob") == 1
    metrics.on_end("trainjob", 0.02, "ok")
    assert value(table.RECONCILE_ERRORS, "trainjob") == 1
    assert value(table.RECONCILES, "trainjob", "success") == 1
    assert value(table.RECONCILE_TIME, "trainjob") == 2


def test_what_is_counted_when_it_is_read() -> None:
    metrics = used()
    value = metrics.registry.value
    assert value(OPERATOR_JOBS.jobs, "TrainJob", "Running") == 2
    metrics.show_jobs("TrainJob", lambda: {"Running": 5})
    assert value(OPERATOR_JOBS.jobs, "TrainJob", "Running") == 5
    assert value(table.WATCH_AGE, "jobsets") == 7
    assert value(table.REQUESTS, "200", "https://k", "GET") == 7
    assert value(table.CERTIFICATE_END) == END.timestamp()
    both = ("trainjob", "trainjob")
    assert value(table.DEPTH, *both) == 3
    assert value(table.UNFINISHED, *both) == 5
    assert value(table.LONGEST, *both) == 4
    assert value(table.WORKERS, "trainjob") == 4
