"""A job remembers the key of the request that made it."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the column; jobs that are there have no key."""
    op.add_column("jobs", sa.Column("idempotency_key", sa.String(128), nullable=True))
    op.create_index("ix_jobs_idempotency_key", "jobs", ["idempotency_key"], unique=True)


def downgrade() -> None:
    """Remove it."""
    op.drop_index("ix_jobs_idempotency_key", "jobs")
    op.drop_column("jobs", "idempotency_key")
