"""Labels and series know the run of their job: lists with one row for a run find it there."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

_TABLES = ("job_labels", "metric_series")


def upgrade() -> None:
    """Add the columns, fill them, and make the indexes anew with them."""
    op.drop_index("ix_job_labels_key_value_job_id", table_name="job_labels")
    if _is_sqlite():
        op.drop_index("ix_metric_series_list", table_name="metric_series")
    for table in _TABLES:
        run = sa.Column("run", sa.String(12), nullable=False, server_default="")
        op.add_column(table, run)
        _fill(table)
    op.create_index("ix_job_labels_list", "job_labels", ["key", "value", "run", "job_id"])
    if _is_sqlite():
        columns = ["name", "run", "job_id", "last"]
        op.create_index("ix_metric_series_list", "metric_series", columns)
    else:
        op.create_index("ix_metric_series_runs", "metric_series", ["name", "run", "job_id"])


def downgrade() -> None:
    """Remove them; the jobs have their runs."""
    if _is_sqlite():
        op.drop_index("ix_metric_series_list", table_name="metric_series")
    else:
        op.drop_index("ix_metric_series_runs", table_name="metric_series")
    op.drop_index("ix_job_labels_list", table_name="job_labels")
    for table in _TABLES:
        op.drop_column(table, "run")
    op.create_index("ix_job_labels_key_value_job_id", "job_labels", ["key", "value", "job_id"])
    if _is_sqlite():
        op.create_index("ix_metric_series_list", "metric_series", ["name", "job_id", "last"])


def _is_sqlite() -> bool:
    return op.get_bind().dialect.name == "sqlite"


def _fill(name: str) -> None:
    """Take the runs from the jobs that have one."""
    jobs = sa.table("jobs", sa.column("id"), sa.column("run"))
    table = sa.table(name, sa.column("job_id"), sa.column("run"))
    of_runs = sa.select(jobs.c.id).where(jobs.c.run.is_not(None))
    run = sa.select(jobs.c.run).where(jobs.c.id == table.c.job_id).scalar_subquery()
    op.execute(sa.update(table).where(table.c.job_id.in_(of_runs)).values(run=run))
