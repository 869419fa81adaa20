"""Elastic jobs that have to do with fewer nodes, since another job needs their room."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    """Add the column."""
    op.add_column("jobs", sa.Column("node_limit", sa.Text(), nullable=True))


def downgrade() -> None:
    """Remove it; a job with fewer nodes keeps those that it has."""
    op.drop_column("jobs", "node_limit")
