"""A note on a job, and its links."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add the columns."""
    op.add_column("jobs", sa.Column("note", sa.Text(), nullable=True))
    op.add_column("jobs", sa.Column("links", sa.Text(), nullable=True))


def downgrade() -> None:
    """Remove them."""
    op.drop_column("jobs", "links")
    op.drop_column("jobs", "note")
