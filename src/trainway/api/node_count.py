"""A job with another number of nodes, for `trainway jobs scale`. Pure.

Which nodes are meant follows from the kind: the trainer of a TrainJob, the workers of an MPIJob,
the only task of a Task, and the only role of a JobSet. A job of several parts cannot be scaled.
"""

import copy
from typing import Any

from trainway.errors import UsageError
from trainway.jobset.labels import MAX_NODES, MIN_NODES
from trainway.json_types import Json


def is_countable(job: Json) -> bool:
    """Whether the job has one number of nodes."""
    spec = job.get("spec") or {}
    match job.get("kind"):
        case "Task":
            return len(spec.get("tasks") or ()) == 1
        case "JobSet":
            return _only_role(spec) is not None
        case kind:
            return kind in ("TrainJob", "MPIJob")


def with_nodes(job: Json, nodes: int) -> Json:
    """The job with so many nodes; a UsageError says why that is not possible."""
    if not is_countable(job):
        raise UsageError(
            f"a {job.get('kind')} with several parts has no single number of nodes",
            field="nodes",
            hint="submit it again with another number for one part: "
            "trainway jobs rerun NAME --set PATH=VALUE",
        )
    from trainway.api.field_setting import (  # noqa: PLC0415 - the server starts sooner without it
        parse_setting,
        with_setting,
    )
    from trainway.api.mpijob_wishes import with_workers  # noqa: PLC0415 - see above

    match job["kind"]:
        case "TrainJob":
            scaled_job = with_setting(job, parse_setting(f"spec.trainer.numNodes={nodes}"))
            return _with_range(scaled_job, nodes)
        case "Task":
            return with_setting(job, parse_setting(f"num_nodes={nodes}"))
        case "MPIJob":
            changed: Json = _merged(job, with_workers(job, nodes))
            return changed
    scaled: Json = copy.deepcopy(job)
    role = scaled["spec"]["replicatedJobs"][0]["template"]["spec"]
    role |= {"parallelism": nodes, "completions": nodes}
    return scaled


def _with_range(job: Json, nodes: int) -> Json:
    """An elastic TrainJob has so many nodes at most, and needs no more than these."""
    metadata = job.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    least = str(annotations.get(MIN_NODES) or "")
    if not least.isdigit():
        return job
    said = {MIN_NODES: str(min(int(least), nodes)), MAX_NODES: str(nodes)}
    return {**job, "metadata": {**metadata, "annotations": {**annotations, **said}}}


def _only_role(spec: Json) -> Json | None:
    """The role of a JobSet that has one, all of whose pods run at the same time."""
    roles: list[Json] = spec.get("replicatedJobs") or []
    if len(roles) != 1 or roles[0].get("replicas", 1) != 1:
        return None
    role: Json = roles[0]["template"]["spec"]
    pods = role.get("parallelism", 1)
    return role if role.get("completions", pods) == pods else None


def _merged(value: Any, patch: Any) -> Any:
    """The value after a merge patch that removes nothing."""
    if not isinstance(value, dict) or not isinstance(patch, dict):
        return copy.deepcopy(patch)
    return {**value, **{name: _merged(value.get(name), each) for name, each in patch.items()}}
