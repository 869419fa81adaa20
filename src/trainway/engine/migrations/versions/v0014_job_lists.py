"""Long lists of jobs: filtered and sorted from indexes alone, and labels found by their values."""

import json
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

from trainway.engine.job_labels import label_rows

revision = "0014"
down_revision = "0013"

_LISTED = ("run", "phase", "backend", "kind", "name", "replaced_by")
_SORTED = ("priority", "started", "finished", "restarts")
_BATCH = 1_000


def upgrade() -> None:
    """Make the indexes and the table, and fill it."""
    op.drop_index("ix_jobs_run_id", table_name="jobs")
    op.create_index("ix_jobs_runs", "jobs", [_LISTED[0], "id", *_LISTED[1:]])
    op.create_index("ix_jobs_list", "jobs", ["id", *_LISTED, *_SORTED])
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        op.create_index("ix_metric_series_list", "metric_series", ["name", "job_id", "last"])
    labels = op.create_table(
        "job_labels",
        sa.Column("job_id", sa.String(12), nullable=False),
        sa.Column("key", sa.String(317), nullable=False),
        sa.Column("value", sa.String(63), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name="fk_job_labels_job_id_jobs", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "key", name="pk_job_labels"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_job_labels_key_value_job_id", "job_labels", ["key", "value", "job_id"])
    for rows in _stored_labels(connection):
        if rows:
            connection.execute(sa.insert(labels), rows)


def downgrade() -> None:
    """Remove them; the jobs have their labels."""
    op.drop_table("job_labels")
    if op.get_bind().dialect.name == "sqlite":
        op.drop_index("ix_metric_series_list", table_name="metric_series")
    op.drop_index("ix_jobs_list", table_name="jobs")
    op.drop_index("ix_jobs_runs", table_name="jobs")
    op.create_index("ix_jobs_run_id", "jobs", ["run", "id"])


def _stored_labels(connection: sa.Connection) -> Iterator[list[dict[str, Any]]]:
    """The labels of all jobs, those of some at a time."""
    jobs, last = sa.table("jobs", sa.column("id"), sa.column("labels")), ""
    while True:
        query = sa.select(jobs).where(jobs.c.id > last).order_by(jobs.c.id).limit(_BATCH)
        found = connection.execute(query).all()
        if not found:
            return
        yield [row for job_id, labels in found for row in label_rows(job_id, _read(labels))]
        last = found[-1].id


def _read(text: Any) -> dict[str, Any]:
    try:
        read = json.loads(text)
    except (TypeError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}
