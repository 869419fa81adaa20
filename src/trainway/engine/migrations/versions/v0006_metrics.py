"""The history of metrics: what is known of each series, and its points."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Make the tables; jobs that are there have no history."""
    op.create_table(
        "metric_series",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.String(12), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("points", sa.Integer(), nullable=False),
        sa.Column("last_seq", sa.BigInteger(), nullable=False),
        sa.Column("last", sa.Float(), nullable=False),
        sa.Column("minimum", sa.Float(), nullable=False),
        sa.Column("maximum", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name="fk_metric_series_job_id_jobs", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_metric_series"),
    )
    op.create_index(
        "ix_metric_series_job_id_name", "metric_series", ["job_id", "name"], unique=True
    )
    op.create_table(
        "metric_points",
        sa.Column("series_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=True),
        sa.Column("epoch", sa.Float(), nullable=True),
        sa.Column("time", sa.Float(), nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["series_id"],
            ["metric_series.id"],
            name="fk_metric_points_series_id_metric_series",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("series_id", "seq", name="pk_metric_points"),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Remove them."""
    for table in ("metric_points", "metric_series"):
        op.drop_table(table)
