from prometheus_client.parser import text_string_to_metric_families

from trainway.operator import metric_table as table
from trainway.operator.metrics_testing import END, played_metrics
from trainway.telemetry.api_requests import API_REQUESTS
from trainway.telemetry.job_metrics import OPERATOR_JOBS
from trainway.telemetry.process import PROCESS_METRICS


def test_every_metric_of_the_table_is_on_the_page_with_its_labels() -> None:
    families = {
        family.name + ("_total" if family.type == "counter" else ""): family
        for family in text_string_to_metric_families(played_metrics().page().decode())
    }
    defined = {
        metric.name: metric for metric in (*played_metrics().registry.metrics, *PROCESS_METRICS)
    }
    assert families.keys() == defined.keys()
    for name, family in families.items():
        assert (family.type, family.documentation) == (defined[name].type, defined[name].help)
        for found in family.samples:
            assert set(found.labels) - {"le"} == set(defined[name].labels), name


def test_mpi_jobs_count_twice_under_both_names() -> None:
    value = played_metrics().registry.value
    assert value(table.MPI_CREATED) == 1
    assert value(table.MPI_SUCCESSFUL) == 1
    assert value(table.MPI_FAILED) == 1
    assert value(OPERATOR_JOBS.finished, "MPIJob", "Succeeded") == 1
    assert value(OPERATOR_JOBS.created, "TrainJob") == 1
    assert value(table.MPI_LEADER) == 1


def test_an_mpi_job_that_is_gone_is_not_shown() -> None:
    metrics = played_metrics()
    labels = {"launcher": "pi-launcher", "namespace": "team"}
    assert metrics.registry.value(table.MPI_INFO, *labels.values()) == 1
    metrics.mpi_job_gone(**labels)
    metrics.mpi_job_gone(**labels)
    assert metrics.registry.value(table.MPI_INFO, *labels.values()) is None


def test_errors_are_counted_and_nothing_stays_active() -> None:
    metrics = played_metrics()
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
    metrics = played_metrics()
    value = metrics.registry.value
    assert value(OPERATOR_JOBS.jobs, "TrainJob", "Running") == 2
    metrics.show_jobs("TrainJob", lambda: {"Running": 5})
    assert value(OPERATOR_JOBS.jobs, "TrainJob", "Running") == 5
    assert value(table.WATCH_AGE, "jobsets") == 7
    assert value(API_REQUESTS, "200", "https://k", "GET") == 7
    assert value(table.CERTIFICATE_END) == END.timestamp()
    both = ("trainjob", "trainjob")
    assert value(table.DEPTH, *both) == 3
    assert value(table.UNFINISHED, *both) == 5
    assert value(table.LONGEST, *both) == 4
    assert value(table.WORKERS, "trainjob") == 4
