"""Strategies of recovery: where a job goes on when its place is lost."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    """Add the places of each job, and which of them it avoids."""
    op.add_column("jobs", sa.Column("recovery", sa.Text(), nullable=True))


def downgrade() -> None:
    """Remove them; jobs stay where they are."""
    op.drop_column("jobs", "recovery")
