"""What all jobs of a run may cost."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    """The jobs of those that there are keep the limits that they have."""
    op.add_column("runs", sa.Column("budget", sa.Text(), nullable=True))


def downgrade() -> None:
    """Remove it."""
    op.drop_column("runs", "budget")
