"""How far the logs and files of a job were read for metrics."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Make the table; nothing was read yet."""
    op.create_table(
        "metric_positions",
        sa.Column("job_id", sa.String(12), nullable=False),
        sa.Column("source", sa.String(64), nullable=False),
        sa.Column("position", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name="fk_metric_positions_job_id_jobs", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "source", name="pk_metric_positions"),
    )


def downgrade() -> None:
    """Remove it."""
    op.drop_table("metric_positions")
