"""Whom a job notifies, and what has yet to be delivered."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the column, which jobs that are there have empty, and the table."""
    op.add_column("jobs", sa.Column("notify", sa.Text, nullable=True))
    op.create_table(
        "notices",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("job_id", sa.String(12), nullable=False),
        sa.Column("target", sa.Text, nullable=False),
        sa.Column("notice", sa.Text, nullable=False),
        sa.Column("due", sa.Float, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
    )
    op.create_index("ix_notices_due_id", "notices", ["due", "id"])


def downgrade() -> None:
    """Remove both."""
    op.drop_table("notices")
    op.drop_column("jobs", "notify")
