"""What is rented of clouds, written before it is asked for."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "rentals",
        sa.Column("token", sa.String(12), nullable=False),
        sa.Column("cluster", sa.String(63), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("cloud", sa.String(63), nullable=False),
        sa.Column("region", sa.String(63), nullable=False),
        sa.Column("zone", sa.String(63), nullable=False),
        sa.Column("instance_type", sa.String(128), nullable=False),
        sa.Column("spot", sa.Boolean(), nullable=False),
        sa.Column("nodes", sa.Integer(), nullable=False),
        sa.Column("hourly_price", sa.String(32), nullable=False),
        sa.Column("on_demand_price", sa.String(32), nullable=False),
        sa.Column("machines", sa.Text(), nullable=False),
        sa.Column("history", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("changed", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("token", name="pk_rentals"),
    )


def downgrade() -> None:
    """Remove it; machines that run are found by their tags."""
    op.drop_table("rentals")
