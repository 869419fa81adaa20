"""Objects of a cluster, for tests of this backend."""

from typing import Any, Final

from trainway.jobset.labels import (
    COMPLETION_INDEX,
    JOB_INDEX,
    JOBSET_NAME,
    REPLICATED_JOB_NAME,
    RESTART_ATTEMPT,
)
from trainway.json_types import Json

TIME: Final = "2026-11-15T05:00:00Z"


def pod(
    name: str = "demo-node-0-0-abcde",
    *,
    role: str = "node",
    job: int = 0,
    rank: int = 0,
    attempt: int = 0,
    created: str = TIME,
    status: Json | None = None,
) -> Json:
    """A pod of a JobSet `demo`, whose uid is its name."""
    labels = {
        JOBSET_NAME: "demo",
        REPLICATED_JOB_NAME: role,
        JOB_INDEX: str(job),
        RESTART_ATTEMPT: str(attempt),
        COMPLETION_INDEX: str(rank),
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "ml",
            "uid": name,
            "labels": labels,
            "creationTimestamp": created,
        },
        "spec": {"containers": [{"name": "main"}]},
        "status": status or {},
    }


def plain_job(role: str = "node", index: int = 0, *, end: str = "", **more: Any) -> Json:
    """A plain Job; `end` is the type of the condition with which it ended."""
    name = f"demo-{role}-{index}"
    condition = {"type": end, "status": "True", "lastTransitionTime": TIME, **more.get("why", {})}
    status = {"conditions": [condition]} if end else {}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "labels": {REPLICATED_JOB_NAME: role},
            **more.get("metadata", {}),
        },
        "spec": {"parallelism": 1, "completions": 1, **more.get("spec", {})},
        "status": status | more.get("status", {}),
    }
