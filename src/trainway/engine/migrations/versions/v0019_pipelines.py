"""Pipelines: runs whose jobs are tasks that start one after the other."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    """Add the tasks and their order."""
    op.add_column("runs", sa.Column("pipeline", sa.Text(), nullable=True))


def downgrade() -> None:
    """Remove them; the tasks stay as jobs of a run, and all that wait may start."""
    op.drop_column("runs", "pipeline")
