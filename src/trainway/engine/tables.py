"""The tables of the store.

A job is two rows: what lists and filters need in `jobs`, what is large and never changes in
`job_specs`. Ids sort by time, so the newest come first with the primary key alone. Times are text
as users see them; only what is compared with the clock is a number. What training code reports has
tables of its own, which no list of jobs reads. The SQL is kept plain enough for both SQLite and
PostgreSQL.
"""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)

HEAD: Final = "0028"
"""The migration after which the database looks like this; see `migrations/versions`."""

METADATA: Final = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    }
)

JOBS: Final = Table(
    "jobs",
    METADATA,
    Column("id", String(12), primary_key=True),
    Column("name", String(253), nullable=False),
    Column("namespace", String(63), nullable=False),
    Column("kind", String(63), nullable=False),
    Column("priority", Integer, nullable=False),
    Column("oversubscribe", Boolean, nullable=False),
    Column("labels", Text, nullable=False),
    Column("workdir", Text, nullable=False),
    Column("created", String(32), nullable=False),
    Column("phase", String(16), nullable=False),
    Column("reason", String(128), nullable=False),
    Column("message", Text, nullable=False),
    Column("wanted", String(16), nullable=False),
    Column("started", String(32), nullable=False),
    Column("finished", String(32), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("restarts", Integer, nullable=False),
    Column("exit_code", Integer, nullable=True),
    Column("deadline_seconds", BigInteger, nullable=True),
    Column("ttl_seconds", BigInteger, nullable=True),
    Column("expires", Float, nullable=True),
    Column("is_expired", Boolean, nullable=False),
    Column("journal_seq", BigInteger, nullable=False),
    Column("handle", Text, nullable=False),
    Column("demand", Text, nullable=False),
    Column("devices", Text, nullable=False),
    Column("observed", Text, nullable=False),
    Column("progress", Text, nullable=False),
    Column("idempotency_key", String(128), nullable=True),
    Column("backend", String(253), nullable=False),
    Column("request_digest", String(64), nullable=True),
    Column("notify", Text, nullable=True),
    Column("run", String(12), nullable=True),
    Column("parameters", Text, nullable=True),
    Column("note", Text, nullable=True),
    Column("links", Text, nullable=True),
    Column("place", String(12), nullable=True),
    Column("replaced_by", String(12), nullable=True),
    Column("queue", String(63), nullable=False, server_default="default"),
    Column("making_room", Text, nullable=True),
    Column("ran_seconds", Float, nullable=True),
    Column("move", Text, nullable=True),
    Column("candidates", Text, nullable=True),
    Column("recovery", Text, nullable=True),
    Column("node_limit", Text, nullable=True),
    Column("export", Text, nullable=True),
    Column("rates", Text, nullable=True),
    Column("budget", Text, nullable=True),
    Index(None, "name", "id"),
    Index(None, "phase", "id"),
    Index(None, "expires"),
    Index(None, "idempotency_key", unique=True),
    Index(None, "backend", "id"),
    Index(None, "phase", "finished", "id"),
    # All that a long list is filtered and sorted by: the rows of a window are found in these alone.
    Index("ix_jobs_runs", "run", "id", "phase", "backend", "kind", "name", "replaced_by"),
    Index(
        "ix_jobs_list",
        *("id", "run", "phase", "backend", "kind", "name", "replaced_by"),
        *("priority", "started", "finished", "restarts"),
    ),
)

LABELS: Final = Table(
    "job_labels",
    METADATA,
    Column("job_id", String(12), ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("key", String(317), primary_key=True),
    Column("value", String(63), nullable=False),
    Column("run", String(12), nullable=False, server_default=""),
    Index("ix_job_labels_list", "key", "value", "run", "job_id"),
    sqlite_with_rowid=False,
)
"""The labels of jobs once more, so that those with a label are found without reading all jobs.

Here and in the table of series `run` is that of the job, which never changes; empty: it has none.
"""

SPECS: Final = Table(
    "job_specs",
    METADATA,
    Column("job_id", String(12), ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("objects", Text, nullable=False),
    Column("environ", Text, nullable=False),
    Column("jobset", Text, nullable=False),
    Column("companions", Text, nullable=False),
)

EVENTS: Final = Table(
    "events",
    METADATA,
    Column("job_id", String(12), ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("time", String(32), nullable=False),
    Column("type", String(16), nullable=False),
    Column("reason", String(128), nullable=False),
    Column("message", Text, nullable=False),
    Column("object", String(253), nullable=False),
)

SERIES: Final = Table(
    "metric_series",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("job_id", String(12), ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False),
    Column("name", String(64), nullable=False),
    Column("points", Integer, nullable=False),
    Column("last_seq", BigInteger, nullable=False),
    Column("last", Float, nullable=False),
    Column("minimum", Float, nullable=False),
    Column("maximum", Float, nullable=False),
    Column("run", String(12), nullable=False, server_default=""),
    Index(None, "job_id", "name", unique=True),
    Index("ix_metric_series_list", "name", "run", "job_id", "last").ddl_if(dialect="sqlite"),
    # PostgreSQL writes a row anew in all indexes as soon as one of them has what has changed.
    Index("ix_metric_series_runs", "name", "run", "job_id").ddl_if(dialect="postgresql"),
)

POINTS: Final = Table(
    "metric_points",
    METADATA,
    Column(
        "series_id", Integer, ForeignKey("metric_series.id", ondelete="CASCADE"), primary_key=True
    ),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("step", BigInteger, nullable=True),
    Column("epoch", Float, nullable=True),
    Column("time", Float, nullable=False),
    Column("value", Float, nullable=False),
    sqlite_with_rowid=False,
)

POSITIONS: Final = Table(
    "metric_positions",
    METADATA,
    Column("job_id", String(12), ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("source", String(64), primary_key=True),
    Column("position", Text, nullable=False),
)

RUNS: Final = Table(
    "runs",
    METADATA,
    Column("id", String(12), primary_key=True),
    Column("name", String(253), nullable=False),
    Column("backend", String(253), nullable=False),
    Column("created", String(32), nullable=False),
    Column("size", Integer, nullable=False),
    Column("parallel", Integer, nullable=True),
    Column("search", Text, nullable=True),
    Column("outcome", Text, nullable=True),
    Column("template", Text, nullable=True),
    Column("pipeline", Text, nullable=True),
    Column("budget", Text, nullable=True),
    Index(None, "name", "id"),
)

CLUSTERS: Final = Table(
    "clusters",
    METADATA,
    Column("name", String(63), primary_key=True),
    Column("id", String(12), nullable=False),
    Column("infra", String(253), nullable=False),
    Column("pool", String(253), nullable=False),
    Column("nodes", Integer, nullable=False),
    Column("resources", Text, nullable=False),
    Column("autostop", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("message", Text, nullable=False),
    Column("launched", String(32), nullable=False),
    Column("held", Boolean, nullable=False),
    Column("devices", Text, nullable=False),
    Column("placed", Text, nullable=False),
    Column("last_job", Integer, nullable=False),
    Column("worker_pool", String(63), nullable=False, server_default=""),
    Column("rates", Text, nullable=True),
    Column("runs", Text, nullable=True),
    Column("labels", Text, nullable=False, server_default="{}"),
    Column("budget", Text, nullable=True),
)

WORKER_POOLS: Final = Table(
    "worker_pools",
    METADATA,
    Column("name", String(63), primary_key=True),
    Column("id", String(12), nullable=False),
    Column("infra", String(253), nullable=False),
    Column("agent", String(253), nullable=False),
    Column("nodes", Integer, nullable=False),
    Column("resources", Text, nullable=False),
    Column("options", Text, nullable=False),
    Column("size", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("last_number", Integer, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("is_going", Boolean, nullable=False),
    Column("created", String(32), nullable=False),
    Column("submission", Text, nullable=False),
)

WORKERS: Final = Table(
    "workers",
    METADATA,
    Column("id", String(12), primary_key=True),
    Column("pool", String(63), nullable=False),
    Column("number", Integer, nullable=False),
    Column("name", String(63), nullable=False),
    Column("version", Integer, nullable=False),
    Column("state", String(16), nullable=False),
    Column("message", Text, nullable=False),
    Column("setup_job", String(12), nullable=False),
    Column("created", String(32), nullable=False),
)

SCHEDULES: Final = Table(
    "schedules",
    METADATA,
    Column("id", String(12), primary_key=True),
    Column("name", String(63), nullable=False),
    Column("cron", String(200), nullable=False),
    Column("zone", String(100), nullable=False),
    Column("catch_up", String(16), nullable=False),
    Column("overlap", String(16), nullable=False),
    Column("is_paused", Boolean, nullable=False),
    Column("backend", String(253), nullable=False),
    Column("kind", String(63), nullable=False),
    Column("created", String(32), nullable=False),
    Column("until", String(32), nullable=False),
    Column("waiting", Text, nullable=False),
    Column("outcome", Text, nullable=True),
    Column("request_key", String(128), nullable=True),
    Column("submission", Text, nullable=False),
    Index(None, "name", unique=True),
)

QUEUES: Final = Table(
    "queues",
    METADATA,
    Column("name", String(63), primary_key=True),
    Column("settings", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("created", String(32), nullable=False),
)

VOLUMES: Final = Table(
    "volumes",
    METADATA,
    Column("name", String(63), primary_key=True),
    Column("spec", Text, nullable=False),
    Column("created", String(32), nullable=False),
)

BUCKETS: Final = Table(
    "buckets",
    METADATA,
    Column("uri", String(253), primary_key=True),
    Column("job", String(12), nullable=False),
    Column("is_made", Boolean, nullable=False),
    Column("is_persistent", Boolean, nullable=False),
    Column("state", Text, nullable=False),
    Column("updated", String(32), nullable=False),
)

RENTALS: Final = Table(
    "rentals",
    METADATA,
    Column("token", String(12), primary_key=True),
    Column("cluster", String(63), nullable=False),
    Column("state", String(16), nullable=False),
    Column("cloud", String(63), nullable=False),
    Column("region", String(63), nullable=False),
    Column("zone", String(63), nullable=False),
    Column("instance_type", String(128), nullable=False),
    Column("spot", Boolean, nullable=False),
    Column("nodes", Integer, nullable=False),
    Column("hourly_price", String(32), nullable=False),
    Column("on_demand_price", String(32), nullable=False),
    Column("machines", Text, nullable=False),
    Column("history", Text, nullable=False),
    Column("message", Text, nullable=False),
    Column("request", Text, nullable=False),
    Column("created", String(32), nullable=False),
    Column("changed", String(32), nullable=False),
)
"""What is rented of clouds, a row for each request that was ever granted or is under way."""

SPENT: Final = Table(
    "spent",
    METADATA,
    Column("job_id", String(12), primary_key=True),
    Column("name", String(253), nullable=False),
    Column("backend", String(253), nullable=False),
    Column("labels", Text, nullable=False),
    Column("demand", Text, nullable=False),
    Column("runs", Text, nullable=False),
    Column("rates", Text, nullable=False),
    Column("finished", String(32), nullable=False),
)
"""What deleted jobs and clusters had cost: money that was spent stays spent."""

BUDGETS: Final = Table(
    "budgets",
    METADATA,
    Column("name", String(63), primary_key=True),
    Column("subject", Text, nullable=False),
    Column("monthly", String(32), nullable=False),
    Column("created", String(32), nullable=False),
    Column("warned", String(7), nullable=False),
    Column("spent_up", String(7), nullable=False),
)

NOTICES: Final = Table(
    "notices",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("job_id", String(12), nullable=False),
    Column("target", Text, nullable=False),
    Column("notice", Text, nullable=False),
    Column("due", Float, nullable=False),
    Column("attempts", Integer, nullable=False),
    Index(None, "due", "id"),
)
"""What has yet to be told to somebody; it outlives a job that is deleted in the meantime."""
