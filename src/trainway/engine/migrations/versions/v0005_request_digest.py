"""What was sent with an idempotency key, as a digest: another request with that key is refused."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the column; jobs that are there have none."""
    op.add_column("jobs", sa.Column("request_digest", sa.String(64), nullable=True))


def downgrade() -> None:
    """Remove it."""
    op.drop_column("jobs", "request_digest")
