"""Jobs that ended lately are found without reading all of them."""

from alembic import op

revision = "0013"
down_revision = "0012"

_NAME = "ix_jobs_phase_finished_id"


def upgrade() -> None:
    """Make the index."""
    op.create_index(_NAME, "jobs", ["phase", "finished", "id"])


def downgrade() -> None:
    """Remove it."""
    op.drop_index(_NAME, table_name="jobs")
