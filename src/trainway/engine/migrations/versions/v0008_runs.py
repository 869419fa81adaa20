"""Runs: jobs of one submission under one name. The arrays that are there become such."""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

from trainway.jobset.labels import ARRAY, ARRAY_SIZE

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Make the table and the columns, and fill them from the labels of arrays."""
    op.create_table(
        "runs",
        sa.Column("id", sa.String(12), nullable=False),
        sa.Column("name", sa.String(253), nullable=False),
        sa.Column("backend", sa.String(253), nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("parallel", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
    )
    op.create_index("ix_runs_name_id", "runs", ["name", "id"])
    op.add_column("jobs", sa.Column("run", sa.String(12), nullable=True))
    op.add_column("jobs", sa.Column("parameters", sa.Text(), nullable=True))
    op.create_index("ix_jobs_run_id", "jobs", ["run", "id"])
    _take_up_arrays(op.get_bind())


def downgrade() -> None:
    """Remove them; the jobs stay."""
    op.drop_index("ix_jobs_run_id", "jobs")
    op.drop_column("jobs", "parameters")
    op.drop_column("jobs", "run")
    op.drop_index("ix_runs_name_id", "runs")
    op.drop_table("runs")


def _take_up_arrays(connection: sa.Connection) -> None:
    names = ("id", "name", "backend", "created", "labels", "run")
    jobs = sa.table("jobs", *(sa.column(name) for name in names))
    runs = sa.table(
        "runs", *(sa.column(name) for name in ("id", "name", "backend", "created", "size"))
    )
    found = sa.select(jobs).where(jobs.c.labels.like(f'%"{ARRAY}"%')).order_by(jobs.c.id)
    made: dict[str, dict[str, Any]] = {}
    for row in connection.execute(found).all():
        labels = json.loads(row.labels)
        run = str(labels[ARRAY])
        made.setdefault(run, {
            "id": run,
            "name": row.name.rpartition("-")[0] or row.name,
            "backend": row.backend,
            "created": row.created,
            "size": int(labels[ARRAY_SIZE]),
        })  # fmt: skip
        connection.execute(sa.update(jobs).where(jobs.c.id == row.id).values(run=run))
    if made:
        connection.execute(sa.insert(runs), list(made.values()))
