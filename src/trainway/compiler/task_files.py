"""The files of a task as volumes: its volumes, and on the submitter's own host its file mounts.

Where a job runs elsewhere its backend brings the files along. It finds what and whence in the
annotation `FILES`.
"""

import posixpath
from collections.abc import Iterator
from typing import Any, Final

from trainway.api.task.storage import WORKDIR
from trainway.api.task.task import Task
from trainway.api.task.task_object import Origin, TaskJob, mount_place, workdir_place
from trainway.api.task.volume import VolumeMount
from trainway.json_types import Json

PLACE: Final = "/opt/trainway/files"
"""Where pods find the files that travel with them."""
VOLUME: Final = "trainway-files"

Pair = tuple[Json, Json]
"""A volume and its mount."""


def described(task: Task, origin: Origin) -> Json:
    """What a backend must bring along; empty where it is nothing."""
    told: Json = {}
    if task.data.get("workdir") is not None:
        told["workdir"] = task.data["workdir"]
    if task.data.get("file_mounts"):
        told["fileMounts"] = task.data["file_mounts"]
    return {"directory": origin.directory, **told} if told else {}


def directory(task: Task, origin: Origin) -> str:
    """The workdir on the submitter's own host; empty: where it was submitted."""
    return _expanded(task.workdir, origin) if task.workdir else ""


def local_mounts(task: Task, origin: Origin) -> Iterator[Pair]:
    """File mounts of the submitter's own host. They are read-only: a copy would be written to."""
    for index, mount in enumerate(task.file_mounts):
        if mount.is_local:
            name = f"file-mount-{index}"
            source = posixpath.join(origin.directory, _expanded(mount.source, origin))
            yield (
                {"name": name, "hostPath": {"path": posixpath.normpath(source)}},
                {"name": name, "mountPath": placed(mount.path, origin), "readOnly": True},
            )


def placed(path: str, origin: Origin) -> str:
    """Where a path of a file mount is on the submitter's own host."""
    return posixpath.normpath(posixpath.join(origin.directory, _expanded(path, origin)))


def volumes(task: Task, origin: Origin) -> Iterator[Pair]:
    """The volumes that the task names."""
    for index, mount in enumerate(task.volumes):
        name = f"volume-{index}"
        target = _expanded(mount.path, origin)
        where: Json = {"name": name, "mountPath": target}
        if mount.sub_path:
            where["subPath"] = mount.sub_path
        if mount.read_only:
            where["readOnly"] = True
        yield {"name": name, **_source(mount)}, where


def travelling(job: TaskJob, index: int) -> tuple[list[Pair], list[tuple[str, str]]]:
    """The volume of the files that travel with a task, and which of them go where."""
    own = [item for item in job.files if item.path.startswith(f"{index}/")]
    if not own:
        return [], []
    items = [
        {"key": item.key, "path": item.path, **({"mode": 0o755} if item.is_program else {})}
        for item in own
    ]
    volume = {"name": VOLUME, "configMap": {"name": job.files_name, "items": items}}
    mount = {"name": VOLUME, "mountPath": PLACE, "readOnly": True}
    targets = {workdir_place(index): WORKDIR}
    for number, wanted in enumerate(job.file.tasks[index].file_mounts):
        targets[mount_place(index, number)] = wanted.path
    pairs = [
        (f"{PLACE}/{place}", target)
        for place, target in targets.items()
        if any(item.path == place or item.path.startswith(f"{place}/") for item in own)
    ]
    return [(volume, mount)], pairs


def _source(mount: VolumeMount) -> Json:
    if mount.host_path:
        return {"hostPath": {"path": mount.host_path}}
    if mount.size_gb is None:
        return {"persistentVolumeClaim": {"claimName": mount.name}}
    claim: dict[str, Any] = {
        "accessModes": [mount.config.get("access_mode") or "ReadWriteOnce"],
        "resources": {"requests": {"storage": f"{mount.size_gb:g}Gi"}},
    }
    if mount.config.get("storage_class_name"):
        claim["storageClassName"] = mount.config["storage_class_name"]
    template: Json = {"spec": claim}
    if mount.labels:
        template = {"metadata": {"labels": dict(mount.labels)}, **template}
    return {"ephemeral": {"volumeClaimTemplate": template}}


def _expanded(path: str, origin: Origin) -> str:
    """The path with `~` as the submitter's home, or as that of the images."""
    home = origin.home or "/root"
    is_home = path == "~" or path.startswith("~/")
    return posixpath.join(home, path[1:].lstrip("/")) if is_home else path
