"""What jobs and clusters cost and may cost, what deleted ones had cost, and budgets of months."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    """Add the columns and make the tables."""
    op.add_column("jobs", sa.Column("rates", sa.Text(), nullable=True))
    op.add_column("jobs", sa.Column("budget", sa.Text(), nullable=True))
    op.add_column("clusters", sa.Column("rates", sa.Text(), nullable=True))
    op.add_column("clusters", sa.Column("runs", sa.Text(), nullable=True))
    op.create_table(
        "spent",
        sa.Column("job_id", sa.String(12), nullable=False),
        sa.Column("name", sa.String(253), nullable=False),
        sa.Column("backend", sa.String(253), nullable=False),
        sa.Column("labels", sa.Text(), nullable=False),
        sa.Column("demand", sa.Text(), nullable=False),
        sa.Column("runs", sa.Text(), nullable=False),
        sa.Column("rates", sa.Text(), nullable=False),
        sa.Column("finished", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("job_id", name="pk_spent"),
    )
    op.create_table(
        "budgets",
        sa.Column("name", sa.String(63), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("monthly", sa.String(32), nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("warned", sa.String(7), nullable=False),
        sa.Column("spent_up", sa.String(7), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_budgets"),
    )


def downgrade() -> None:
    """Remove them; what jobs cost is forgotten."""
    op.drop_table("budgets")
    op.drop_table("spent")
    op.drop_column("clusters", "runs")
    op.drop_column("clusters", "rates")
    op.drop_column("jobs", "budget")
    op.drop_column("jobs", "rates")
