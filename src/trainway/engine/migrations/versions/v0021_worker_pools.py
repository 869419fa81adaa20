"""Worker pools, their workers, and the clusters that these are."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    """Make the tables; no cluster is a worker yet."""
    op.create_table(
        "worker_pools",
        sa.Column("name", sa.String(63), nullable=False),
        sa.Column("id", sa.String(12), nullable=False),
        sa.Column("infra", sa.String(253), nullable=False),
        sa.Column("agent", sa.String(253), nullable=False),
        sa.Column("nodes", sa.Integer(), nullable=False),
        sa.Column("resources", sa.Text(), nullable=False),
        sa.Column("options", sa.Text(), nullable=False),
        sa.Column("size", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("last_number", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("is_going", sa.Boolean(), nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("submission", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_worker_pools"),
    )
    op.create_table(
        "workers",
        sa.Column("id", sa.String(12), nullable=False),
        sa.Column("pool", sa.String(63), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(63), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("setup_job", sa.String(12), nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_workers"),
    )
    op.add_column(
        "clusters", sa.Column("worker_pool", sa.String(63), nullable=False, server_default="")
    )


def downgrade() -> None:
    """Remove them; workers stay as clusters."""
    op.drop_column("clusters", "worker_pool")
    op.drop_table("workers")
    op.drop_table("worker_pools")
