"""Managed queues, and what jobs have to do with them."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Make the table, and put all jobs into the queue that there always is."""
    op.create_table(
        "queues",
        sa.Column("name", sa.String(63), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_queues"),
    )
    op.add_column(
        "jobs", sa.Column("queue", sa.String(63), nullable=False, server_default="default")
    )
    op.add_column("jobs", sa.Column("making_room", sa.Text(), nullable=True))
    op.add_column("jobs", sa.Column("ran_seconds", sa.Float(), nullable=True))


def downgrade() -> None:
    """Remove both."""
    op.drop_column("jobs", "ran_seconds")
    op.drop_column("jobs", "making_room")
    op.drop_column("jobs", "queue")
    op.drop_table("queues")
