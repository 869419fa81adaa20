"""Jobs of a run whose place another one has taken."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Add the columns."""
    op.add_column("jobs", sa.Column("place", sa.String(12), nullable=True))
    op.add_column("jobs", sa.Column("replaced_by", sa.String(12), nullable=True))


def downgrade() -> None:
    """Remove them."""
    op.drop_column("jobs", "replaced_by")
    op.drop_column("jobs", "place")
