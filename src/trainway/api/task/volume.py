"""`volumes` of a task, and the file that makes one (`sky volumes apply`)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from trainway.api.task import infra
from trainway.api.task.amounts import SIZE, gigabytes
from trainway.families.builtin import HERE
from trainway.json_types import Json
from trainway.schema.field import FieldError, Path, forbidden, invalid, key_step, required
from trainway.schema.shape import (
    FLAG,
    TEXT,
    Either,
    Record,
    Shape,
    Table,
    Text,
    Word,
    check,
)

DIRECTORY: Final = "directory"
"""A folder of hosts that are not those of Kubernetes; this type is Trainway's own."""
CLAIM: Final = "k8s-pvc"
"""A claim of a cluster."""
TYPES: Final = (CLAIM, "k8s-hostpath", "runpod-network-volume", DIRECTORY)
ACCESS_MODES: Final = ("ReadWriteOnce", "ReadWriteOncePod", "ReadWriteMany", "ReadOnlyMany")
_SUB_PATH: Final = r"[a-zA-Z0-9._-][a-zA-Z0-9./_-]*"

_CONFIG: Final = Record(
    {
        "storage_class_name": TEXT,
        "access_mode": Word(ACCESS_MODES, any_case=False),
        "namespace": TEXT,
        "host_path": TEXT,
        "cleanup_on_deletion": FLAG,
    }
)
_MOUNT: Final = Record(
    {
        "name": TEXT,
        "sub_path": Text(_SUB_PATH, f"should match '{_SUB_PATH}'"),
        "size": SIZE,
        "type": Word(TYPES),
        "labels": Table(TEXT),
        "config": _CONFIG,
        "host_path": TEXT,
        "mode": Word(("ro", "rw")),
    }
)
SHAPE: Final[Shape] = Table(Either((TEXT, _MOUNT)))

FILE: Final = Record(
    {
        "name": TEXT,
        "type": Word(TYPES),
        "infra": TEXT,
        "size": SIZE,
        "use_existing": FLAG,
        "labels": Table(TEXT),
        "config": _CONFIG,
    },
    needs=("name", "type"),
)
_HOSTS: Final = (HERE, "ssh", "slurm")
_KINDS: Final = {"name": ("name", "sub_path"), "size": ("size", "type", "labels", "config"),
                 "host_path": ("host_path", "mode")}  # fmt: skip


@dataclass(frozen=True)
class VolumeMount:
    """A volume at a path: one that there is, one for as long as the task, or a path of the host."""

    path: str
    name: str = ""
    sub_path: str = ""
    size_gb: float | None = None
    host_path: str = ""
    read_only: bool = False
    config: Json = field(default_factory=dict)
    labels: Json = field(default_factory=dict)


def errors(data: Json, path: Path, num_nodes: int) -> Iterator[FieldError]:
    """Everything that is wrong with volumes whose structure is right."""
    for target, value in data.items():
        place = (*path, key_step(target))
        if not target.startswith(("/", "~")):
            yield forbidden(place, "a volume must be mounted at an absolute path")
        if isinstance(value, str):
            if not value:
                yield required(place, "give the name of a volume")
            continue
        kinds = [kind for kind in _KINDS if value.get(kind) is not None]
        if len(kinds) != 1:
            detail = "it needs exactly one of name, size and host_path"
            yield invalid(place, sorted(value), detail)
            continue
        for name in value:
            if name not in _KINDS[kinds[0]] and value[name] is not None:
                yield forbidden((*place, name), f"it cannot be used together with {kinds[0]}")
        mode = (value.get("config") or {}).get("access_mode")
        if num_nodes > 1 and str(mode).startswith("ReadWriteOnce"):
            detail = f"{mode} allows one node only, but num_nodes is {num_nodes}"
            yield forbidden((*place, "config", "access_mode"), detail)


def read(data: Json | None) -> tuple[VolumeMount, ...]:
    """The volumes of data without errors."""
    found = []
    for path, value in (data or {}).items():
        if isinstance(value, str):
            found.append(VolumeMount(path, name=value))
            continue
        size = value.get("size")
        found.append(
            VolumeMount(
                path,
                name=value.get("name") or "",
                sub_path=value.get("sub_path") or "",
                size_gb=None if size is None else gigabytes(size),
                host_path=value.get("host_path") or "",
                read_only=str(value.get("mode") or "").lower() == "ro",
                config=value.get("config") or {},
                labels=value.get("labels") or {},
            )
        )
    return tuple(found)


def file_errors(data: Any) -> Iterator[FieldError]:
    """What is wrong with a file that makes a volume."""
    found = list(check(FILE, data, ()))
    yield from found
    if found:
        return
    kind = data["type"].lower()
    if data.get("infra"):
        yield from _infra_errors(data["infra"], kind)
    host_path = (data.get("config") or {}).get("host_path")
    if kind in ("k8s-hostpath", DIRECTORY) and not host_path:
        yield required(("config", "host_path"), f"a {kind} needs a path on the nodes")
    elif host_path and (not host_path.startswith("/") or ".." in host_path.split("/")):
        yield invalid(("config", "host_path"), host_path, "must be an absolute path without '..'")
    if kind == CLAIM and data.get("size") is None and not data.get("use_existing"):
        detail = "a new volume needs a size; set use_existing to use an existing one"
        yield required(("size",), detail)


def _infra_errors(text: str, kind: str) -> Iterator[FieldError]:
    try:
        cloud = infra.parse(text).cloud
    except ValueError as error:
        yield invalid(("infra",), text, str(error))
        return
    if kind == DIRECTORY:
        if cloud not in _HOSTS:
            yield invalid(
                ("infra",), text, f"a {kind} is on {', '.join(_HOSTS[:2])} or {_HOSTS[2]}"
            )
        return
    wanted = "runpod" if kind.startswith("runpod") else "kubernetes"
    if cloud not in (None, wanted) and not (cloud == "ssh" and wanted == "kubernetes"):
        yield invalid(("infra",), text, f"a {kind} volume must be on {wanted}")


def is_volume_file(document: Any) -> bool:
    """Whether a document makes a volume and is no task."""
    return isinstance(document, dict) and "type" in document and not document.keys() & {
        "run", "setup", "resources", "envs", "file_mounts", "num_nodes", "workdir",
    }  # fmt: skip
