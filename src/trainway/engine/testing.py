"""Things that tests of the engine and the server share."""

from typing import Any

from sqlalchemy import create_engine, event
from sqlalchemy.pool import StaticPool

from trainway.engine.database import prepare_sqlite
from trainway.engine.store import Store
from trainway.engine.tables import METADATA

Json = dict[str, Any]


def memory_store() -> Store:
    """A store that is gone with the test."""
    engine = create_engine(
        "sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False}
    )
    event.listen(engine, "connect", prepare_sqlite)
    METADATA.create_all(engine)
    return Store(engine)


def jobset(name: str = "demo", command: str = "true", **more: Any) -> Json:
    """A JobSet of one role `node`; `pods`, `requests`, `spec` and `job` say more."""
    pods = more.get("pods", 1)
    container: Json = {"name": "main", "image": "busybox", "command": ["sh", "-c", command]}
    if "requests" in more:
        container["resources"] = {"requests": more["requests"]}
    pod = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [container]}
    job = {"parallelism": pods, "completions": pods, "backoffLimit": 0, **more.get("job", {})}
    role = {"name": "node", "template": {"spec": {**job, "template": {"spec": pod}}}}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name, **more.get("metadata", {})},
        "spec": {"replicatedJobs": [role], **more.get("spec", {})},
    }
