"""Whose clusters are, and what they may cost."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    """Those that there are belong to nobody, and may cost anything."""
    op.add_column("clusters", sa.Column("labels", sa.Text(), nullable=False, server_default="{}"))
    op.add_column("clusters", sa.Column("budget", sa.Text(), nullable=True))


def downgrade() -> None:
    """Remove both."""
    op.drop_column("clusters", "budget")
    op.drop_column("clusters", "labels")
