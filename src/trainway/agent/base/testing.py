"""JobSets to try things on: small ones, whose containers are shell scripts."""

from __future__ import annotations

from typing import Any

from trainway.json_types import Json


def container(name: str, script: str, **more: Any) -> Json:
    """A container that runs a shell script."""
    return {"name": name, "command": ["sh", "-c", script], **more}


def role(name: str, *containers: Json, **more: Any) -> Json:
    """A replicated job of one Job; job and pod fields are told apart by `pod`."""
    pod = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 2, **more.pop("pod", {})}
    replicas, depends_on = more.pop("replicas", 1), more.pop("dependsOn", [])
    job = {"completionMode": "Indexed", "parallelism": 1, "completions": 1, "backoffLimit": 0}
    job.update(more, template={"spec": {**pod, "containers": list(containers)}})
    return {"name": name, "replicas": replicas, "dependsOn": depends_on, "template": {"spec": job}}


def jobset(*roles: Json, name: str = "trial", **spec: Any) -> Json:
    """A JobSet of these roles."""
    return {"metadata": {"name": name}, "spec": {"replicatedJobs": list(roles), **spec}}
