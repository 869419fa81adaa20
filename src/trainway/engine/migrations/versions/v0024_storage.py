"""Volumes that people have named, and buckets that were made for jobs."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "volumes",
        sa.Column("name", sa.String(63), nullable=False),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_volumes"),
    )
    op.create_table(
        "buckets",
        sa.Column("uri", sa.String(253), nullable=False),
        sa.Column("job", sa.String(12), nullable=False),
        sa.Column("is_made", sa.Boolean(), nullable=False),
        sa.Column("is_persistent", sa.Boolean(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("updated", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("uri", name="pk_buckets"),
    )


def downgrade() -> None:
    """Remove them; what is in volumes and buckets stays."""
    op.drop_table("buckets")
    op.drop_table("volumes")
