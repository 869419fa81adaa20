"""Jobs that are on their way to another place."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Add the column."""
    op.add_column("jobs", sa.Column("move", sa.Text(), nullable=True))


def downgrade() -> None:
    """Remove it; a job that was between two places stays suspended."""
    op.drop_column("jobs", "move")
