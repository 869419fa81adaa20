"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(12), nullable=False),
        sa.Column("name", sa.String(253), nullable=False),
        sa.Column("namespace", sa.String(63), nullable=False),
        sa.Column("kind", sa.String(63), nullable=False),
        sa.Column("backend", sa.String(63), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("oversubscribe", sa.Boolean(), nullable=False),
        sa.Column("labels", sa.Text(), nullable=False),
        sa.Column("workdir", sa.Text(), nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("phase", sa.String(16), nullable=False),
        sa.Column("reason", sa.String(128), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("wanted", sa.String(16), nullable=False),
        sa.Column("started", sa.String(32), nullable=False),
        sa.Column("finished", sa.String(32), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("restarts", sa.Integer(), nullable=False),
        sa.Column("exit_code", sa.Integer(), nullable=True),
        sa.Column("deadline_seconds", sa.BigInteger(), nullable=True),
        sa.Column("ttl_seconds", sa.BigInteger(), nullable=True),
        sa.Column("expires", sa.Float(), nullable=True),
        sa.Column("is_expired", sa.Boolean(), nullable=False),
        sa.Column("journal_seq", sa.BigInteger(), nullable=False),
        sa.Column("handle", sa.Text(), nullable=False),
        sa.Column("demand", sa.Text(), nullable=False),
        sa.Column("devices", sa.Text(), nullable=False),
        sa.Column("observed", sa.Text(), nullable=False),
        sa.Column("progress", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
    )
    op.create_index("ix_jobs_name_id", "jobs", ["name", "id"])
    op.create_index("ix_jobs_phase_id", "jobs", ["phase", "id"])
    op.create_index("ix_jobs_expires", "jobs", ["expires"])
    op.create_table(
        "job_specs",
        sa.Column("job_id", sa.String(12), nullable=False),
        sa.Column("objects", sa.Text(), nullable=False),
        sa.Column("environ", sa.Text(), nullable=False),
        sa.Column("jobset", sa.Text(), nullable=False),
        sa.Column("companions", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name="fk_job_specs_job_id_jobs", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", name="pk_job_specs"),
    )
    op.create_table(
        "events",
        sa.Column("job_id", sa.String(12), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("time", sa.String(32), nullable=False),
        sa.Column("type", sa.String(16), nullable=False),
        sa.Column("reason", sa.String(128), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("object", sa.String(253), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name="fk_events_job_id_jobs", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "seq", name="pk_events"),
    )


def downgrade() -> None:
    """Remove them."""
    for table in ("events", "job_specs", "jobs"):
        op.drop_table(table)
