"""The name of a backend may be that of a cluster, which is longer.

The column is made anew, at the end: SQLite can neither change a type nor make the table anew
without its other tables following it.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make room."""
    _resize(253)


def downgrade() -> None:
    """Take it back."""
    _resize(63)


def _resize(length: int) -> None:
    op.add_column(
        "jobs", sa.Column("backend_name", sa.String(length), nullable=False, server_default="")
    )
    op.execute("UPDATE jobs SET backend_name = backend")
    op.drop_column("jobs", "backend")
    op.execute("ALTER TABLE jobs RENAME COLUMN backend_name TO backend")
