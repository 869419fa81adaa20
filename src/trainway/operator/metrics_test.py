import re
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from trainway.operator.metrics import Metrics

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "operator-metrics.md"


def used() -> Metrics:
    """All metrics with a value."""
    metrics = Metrics()
    for kind in ("TrainJob", "MPIJob"):
        metrics.job_created(kind)
        metrics.job_finished(kind, "Failed")
        metrics.job_running(kind, 3)
        metrics.gang_wait(kind, 2)
        metrics.restart(kind)
        metrics.gpu_seconds(kind, "team", 12)
        metrics.hang(kind)
    metrics.job_finished("MPIJob", "Succeeded")
    metrics.mpi_job_info("pi-launcher", "team")
    metrics.webhook("TrainJob", allowed=True, seconds=0.01)
    metrics.on_start("trainjob")
    metrics.on_end("trainjob", 0.02, "error")
    metrics.leader(is_leader=True)
    metrics.show_queue("trainjob", lambda: 3, lambda: 0.5)
    metrics.show_watch("jobsets", lambda: 7)
    metrics.show_jobs("TrainJob", lambda: {"Running": 2, "Failed": 1})
    return metrics


def sample(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(name, labels)


def test_the_document_lists_exactly_what_is_exposed() -> None:
    page = used().page().decode()
    exposed = {
        (family.name + ("_total" if family.type == "counter" else ""), family.type)
        for family in text_string_to_metric_families(page)
    }
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \|([^|]*)\|", DOCUMENT.read_text(), re.MULTILINE)
    assert {(name, kind) for name, kind, _labels in rows} == exposed


def test_the_document_names_the_labels() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \|([^|]*)\|", DOCUMENT.read_text(), re.MULTILINE)
    documented = {name: set(re.findall(r"`(\w+)`", labels)) for name, _kind, labels in rows}
    for family in text_string_to_metric_families(used().page().decode()):
        for found in family.samples:
            name = re.sub(r"_(bucket|sum|count)$", "", found.name)
            assert set(found.labels) - {"le"} == documented[name], name


def test_mpi_jobs_count_twice_under_both_names() -> None:
    metrics = used()
    assert sample(metrics, "mpi_operator_jobs_created_total") == 1
    assert sample(metrics, "mpi_operator_jobs_successful_total") == 1
    assert sample(metrics, "mpi_operator_jobs_failed_total") == 1
    assert sample(metrics, "trainway_jobs_finished_total", kind="MPIJob", phase="Succeeded") == 1
    assert sample(metrics, "trainway_jobs_created_total", kind="TrainJob") == 1
    assert sample(metrics, "mpi_operator_is_leader") == 1


def test_an_mpi_job_that_is_gone_is_not_shown() -> None:
    metrics = used()
    labels = {"launcher": "pi-launcher", "namespace": "team"}
    assert sample(metrics, "mpi_operator_job_info", **labels) == 1
    metrics.mpi_job_gone(**labels)
    metrics.mpi_job_gone(**labels)
    assert sample(metrics, "mpi_operator_job_info", **labels) is None


def test_errors_are_counted_and_nothing_stays_active() -> None:
    metrics = used()
    assert sample(metrics, "trainway_reconcile_errors_total", controller="trainjob") == 1
    assert sample(metrics, "trainway_reconcile_retries_total", controller="trainjob") == 1
    assert sample(metrics, "trainway_reconcile_active", controller="trainjob") == 0
    metrics.on_start("trainjob")
    metrics.on_end("trainjob", 0.02, "ok")
    assert sample(metrics, "trainway_reconcile_errors_total", controller="trainjob") == 1
    assert sample(metrics, "trainway_reconcile_total", controller="trainjob", outcome="ok") == 1


def test_what_is_counted_when_it_is_read() -> None:
    metrics = used()
    assert sample(metrics, "trainway_jobs", kind="TrainJob", phase="Running") == 2
    metrics.show_jobs("TrainJob", lambda: {"Running": 5})
    assert sample(metrics, "trainway_jobs", kind="TrainJob", phase="Running") == 5
    assert sample(metrics, "trainway_watch_age_seconds", resource="jobsets") == 7
