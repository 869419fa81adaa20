"""Searches: runs whose jobs are trials that are created one after the other."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

_COLUMNS = ("search", "outcome", "template")


def upgrade() -> None:
    """Add what a search is, how it ended, and what its trials are made of."""
    for name in _COLUMNS:
        op.add_column("runs", sa.Column(name, sa.Text(), nullable=True))


def downgrade() -> None:
    """Remove them; the trials stay as jobs of a run."""
    for name in reversed(_COLUMNS):
        op.drop_column("runs", name)
