"""Where the output of a job goes when it has succeeded, and how far that is."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    """Add the column."""
    op.add_column("jobs", sa.Column("export", sa.Text(), nullable=True))


def downgrade() -> None:
    """Remove it; what was not exported yet stays where it is."""
    op.drop_column("jobs", "export")
