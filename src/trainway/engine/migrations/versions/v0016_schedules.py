"""Schedules: jobs that are submitted again and again."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "schedules",
        sa.Column("id", sa.String(12), nullable=False),
        sa.Column("name", sa.String(63), nullable=False),
        sa.Column("cron", sa.String(200), nullable=False),
        sa.Column("zone", sa.String(100), nullable=False),
        sa.Column("catch_up", sa.String(16), nullable=False),
        sa.Column("overlap", sa.String(16), nullable=False),
        sa.Column("is_paused", sa.Boolean(), nullable=False),
        sa.Column("backend", sa.String(253), nullable=False),
        sa.Column("kind", sa.String(63), nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("until", sa.String(32), nullable=False),
        sa.Column("waiting", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("request_key", sa.String(128), nullable=True),
        sa.Column("submission", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_schedules"),
    )
    op.create_index("ix_schedules_name", "schedules", ["name"], unique=True)


def downgrade() -> None:
    """Remove it; the jobs stay."""
    op.drop_table("schedules")
