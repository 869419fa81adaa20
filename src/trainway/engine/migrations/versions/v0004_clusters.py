"""Clusters, and a quick way to the jobs of one."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the table and the index."""
    op.create_table(
        "clusters",
        sa.Column("name", sa.String(63), nullable=False),
        sa.Column("id", sa.String(12), nullable=False),
        sa.Column("infra", sa.String(253), nullable=False),
        sa.Column("pool", sa.String(253), nullable=False),
        sa.Column("nodes", sa.Integer(), nullable=False),
        sa.Column("resources", sa.Text(), nullable=False),
        sa.Column("autostop", sa.Text(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("launched", sa.String(32), nullable=False),
        sa.Column("held", sa.Boolean(), nullable=False),
        sa.Column("devices", sa.Text(), nullable=False),
        sa.Column("placed", sa.Text(), nullable=False),
        sa.Column("last_job", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_clusters"),
    )
    op.create_index("ix_jobs_backend_id", "jobs", ["backend", "id"])


def downgrade() -> None:
    """Remove them."""
    op.drop_index("ix_jobs_backend_id", "jobs")
    op.drop_table("clusters")
