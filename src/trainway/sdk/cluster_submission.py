"""Putting a task into the queue of a cluster."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from trainway.errors import UsageError
from trainway.families.builtin import HELD, HERE
from trainway.jobset.labels import CLUSTER_JOB
from trainway.json_types import Json
from trainway.sdk.cluster_rest import ClusterRest
from trainway.sdk.cluster_tasks import ClusterTask, TaskWishes, of_command, of_document, of_file
from trainway.sdk.job_labels import labelled
from trainway.sdk.rest import Submission
from trainway.sdk.submitter import job_options
from trainway.sdk.targets import read_manifest

FILES: Final = (".yaml", ".yml")


def task_of(target: str | Path | Mapping[str, Any], wishes: TaskWishes) -> ClusterTask:
    """A task as it is, or of a file, by its suffix, or a command."""
    if isinstance(target, Mapping):
        return of_document(target, wishes)
    text = str(target)
    if isinstance(target, Path) or (text.endswith(FILES) and len(text.split()) == 1):
        return of_file(read_manifest(Path(target)), text, wishes)
    if not text.strip():
        raise UsageError("there is nothing to run")
    return of_command(text, wishes)


def submit(
    rest: ClusterRest,
    cluster: Json,
    task: ClusterTask,
    *,
    with_setup: bool,
    labels: Mapping[str, str] | None = None,
) -> tuple[Json, list[str]]:
    """Put a task into the queue of a cluster: the job, and what its owner should know."""
    name = str(cluster["metadata"]["name"])
    is_local = cluster["spec"]["infra"] == HERE
    objects = task.objects(name, travels=not is_local, with_setup=with_setup)
    objects = labelled(objects, labels or {})
    options = job_options(
        rest.address,
        prefer_our_python=False,
        backend=None if is_local else cluster["spec"]["infra"],
    )
    return rest.submit(Submission(objects, {**options, "backend": f"{HELD}/{name}"}))


def named(rest: ClusterRest, name: str, task: ClusterTask) -> Json:
    """The cluster of that name, as far as `submit` must know it.

    Only where files may have to travel it makes a difference where the cluster is; else nobody is
    asked, and the job starts sooner.
    """
    if task.has_files:
        return rest.cluster(name)
    return {"metadata": {"name": name}, "spec": {"infra": HERE}}


def number_of(job: Mapping[str, Any]) -> int:
    """The number of a job on its cluster."""
    return int((job["metadata"].get("labels") or {}).get(CLUSTER_JOB) or 0)
