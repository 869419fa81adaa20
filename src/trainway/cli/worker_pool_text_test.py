"""Worker pools as people read them."""

from datetime import UTC, datetime

from trainway.cli.managed_job_text import pool_cell
from trainway.cli.worker_pool_text import applied_line, pool_row, worker_rows
from trainway.json_types import Json

NOW = datetime(2026, 11, 15, 5, 1, tzinfo=UTC)
THEN = "2026-11-15T05:00:00Z"
POOL: Json = {
    "metadata": {"name": "warm", "creationTimestamp": THEN},
    "spec": {
        "infra": "ssh/lab",
        "nodes": 1,
        "resources": {"cpus": 2, "memory": "4", "accelerators": "A100:1"},
        "minWorkers": 1,
        "maxWorkers": 8,
        "version": 2,
    },
    "status": {
        "phase": "READY",
        "readyWorkers": 1,
        "waitingJobs": 3,
        "workers": [
            {"id": 1, "version": 2, "launched": THEN, "phase": "READY", "usedBy": "id1",
             "nodes": [{"host": "a1"}]},
            {"id": 2, "version": 2, "launched": THEN, "phase": "STARTING", "usedBy": None,
             "nodes": []},
        ],
    },
}  # fmt: skip


def test_the_cells_of_a_pool_and_of_its_workers() -> None:
    assert pool_row(POOL, NOW) == ["warm", "2", "1m", "READY", "1/1-8", "3"]
    resources = "1x(cpus=2, mem=4, A100:1)"
    assert worker_rows(POOL, NOW) == [
        ["warm", "1", "2", "1m ago", "ssh/lab (a1)", resources, "READY", "id1"],
        ["warm", "2", "2", "1m ago", "ssh/lab", resources, "STARTING", "-"],
    ]
    assert applied_line(POOL) == "worker pool warm has 1 to 8 workers on ssh/lab (version 2)"


def test_the_worker_of_a_job() -> None:
    assert pool_cell({"pool": "warm", "current_cluster_name": "warm-1"}) == "warm (warm-1)"
    assert pool_cell({"pool": "warm", "current_cluster_name": None}) == "warm"
    assert pool_cell({"pool": None, "current_cluster_name": None}) == "-"
