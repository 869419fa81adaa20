"""Labels of jobs by key and value, so that a filter finds them without reading every job.

A job has its labels itself too. These never change, but for the one that says where machines were
rented for a job that went elsewhere, for which nobody filters. What no filter can ask for is left
out: a store may have labels from before they were checked.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, insert

from trainway.engine.record import JobRecord
from trainway.engine.tables import LABELS
from trainway.jobset.label_syntax import key_problem, value_problem


def label_rows(job_id: str, labels: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """The rows of a job's labels."""
    for key, value in labels.items():
        if isinstance(value, str) and key_problem(key) is None and value_problem(value) is None:
            yield {"key": key, "value": value, "job_id": job_id}


def insert_labels(connection: Connection, job: JobRecord) -> None:
    """Keep those of a new job."""
    run = {"run": job.run or ""}
    rows = [row | run for row in label_rows(job.id, job.label_map)]
    if rows:
        connection.execute(insert(LABELS), rows)
