"""Jobs that are on their way to another place, or may go there while they wait."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Add the columns."""
    op.add_column("jobs", sa.Column("move", sa.Text(), nullable=True))
    op.add_column("jobs", sa.Column("candidates", sa.Text(), nullable=True))


def downgrade() -> None:
    """Remove them; a job that was between two places stays suspended."""
    op.drop_column("jobs", "candidates")
    op.drop_column("jobs", "move")
