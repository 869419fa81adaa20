"""The buckets of a task in its pods: a step that copies, and what the task's own script mounts.

A copy is in a volume of the pod, which a first container fills. It is a file or a folder, as what
it is a copy of: its mount is below the volume, and made when the first container has ended.
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from trainway.api.task.storage_mount import Mode, StorageMount, storage_mounts
from trainway.api.task.storage_remote import PREFIX, TYPES, rclone_prefix
from trainway.api.task.task import Task
from trainway.api.task.task_object import Origin, StorageKeys
from trainway.compiler import storage_script
from trainway.compiler.pod_mounts import PodMounts
from trainway.compiler.storage_script import Mounted
from trainway.compiler.task_files import Pair, placed
from trainway.compiler.task_script import shell_path
from trainway.jobset.literal_text import literal
from trainway.json_types import Json

CONTAINER: Final = "storage"
IMAGE: Final = "rclone/rclone:1.71"
"""What copies in a pod of Kubernetes; it needs no privileges."""
PLACE: Final = "/opt/trainway/storage"
_CONTENT: Final = "content"
_UNPRIVILEGED: Final = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
}


@dataclass(frozen=True)
class TaskStorage:
    """The storage of one task."""

    mounts: tuple[StorageMount, ...]
    keys: StorageKeys
    origin: Origin
    is_here: bool
    """Whether it runs on the submitter's own host, where paths are known."""
    in_pods: bool = False
    """Whether it runs in pods of a cluster, where a container beside it mounts."""

    @property
    def copies(self) -> list[StorageMount]:
        """What is copied before it starts."""
        return [mount for mount in self.mounts if mount.mode is Mode.COPY]

    @property
    def mounted(self) -> list[Mounted]:
        """What the task itself mounts while it runs."""
        mounts = [] if self.in_pods else self._mounts()
        return [Mounted(mount, self._shell_place(mount.path)) for mount in mounts]

    @property
    def beside(self) -> PodMounts:
        """What a container beside it mounts."""
        return PodMounts(self._mounts() if self.in_pods else [])

    def _mounts(self) -> list[StorageMount]:
        return [mount for mount in self.mounts if mount.mode is not Mode.COPY]

    def pairs(self) -> list[Pair]:
        """The volumes of the copies, and where the task sees them."""
        return [
            (
                {"name": _name(number), "emptyDir": {}},
                {"name": _name(number), "mountPath": f"{PLACE}/{number}"}
                if self._is_linked(mount)
                else {
                    "name": _name(number),
                    "mountPath": self._place(mount.path),
                    "subPath": _CONTENT,
                },
            )
            for number, mount in enumerate(self.copies)
        ] + self.beside.pairs()

    def links(self) -> list[tuple[str, str]]:
        """Copies that have their paths only by a link, since nobody knows the home directory."""
        return [
            (f"{PLACE}/{number}/{_CONTENT}", mount.path)
            for number, mount in enumerate(self.copies)
            if self._is_linked(mount)
        ] + self.beside.links()

    def steps(self, image: str) -> list[Json]:
        """The containers before the task: one that copies, and one that mounts beside it."""
        beside = self.beside.mounts
        found = [self.step(image)] if self.copies or beside else []
        if beside:
            found.append(self.beside.sidecar(image, list(self._variables(beside, self.keys.names))))
        return found

    def step(self, image: str) -> Json:
        """The container that copies; where pods have no images, the image is empty."""
        pairs = [
            (mount, f"{PLACE}/{number}/{_CONTENT}") for number, mount in enumerate(self.copies)
        ]
        alone = {"image": image, "securityContext": copy.deepcopy(_UNPRIVILEGED)}
        container: Json = {"name": CONTAINER, **(alone if image else {})}
        given = self.keys.names
        script = self.beside.checks() + (storage_script.copying(pairs, given) if pairs else "")
        container["command"] = ["sh", "-c", literal(script)]
        known = [*self.copies, *self.beside.mounts]
        container["env"] = list(self._variables(known, self.keys.names))
        container["volumeMounts"] = [
            {"name": _name(number), "mountPath": f"{PLACE}/{number}"}
            for number in range(len(self.copies))
        ]
        return container

    def variables(self) -> list[Json]:
        """What the task's own script needs to mount; it hides them from setup and run."""
        names = [name for name in self.keys.names if name.startswith(PREFIX)]
        mounts = [item.mount for item in self.mounted]
        return list(self._variables(mounts, names)) if mounts else []

    def _variables(self, mounts: Sequence[StorageMount], names: Sequence[str]) -> Iterator[Json]:
        for scheme in dict.fromkeys(mount.scheme for mount in mounts):
            plain = {"TYPE": TYPES.get(scheme, ""), "ENV_AUTH": "true"} if scheme in TYPES else {}
            given = [name for name in names if name.startswith(rclone_prefix(scheme))]
            if not given:
                for name, value in plain.items():
                    yield {"name": f"{rclone_prefix(scheme)}{name}", "value": value}
        schemes = tuple(rclone_prefix(mount.scheme) for mount in mounts)
        for name in names:
            if name.startswith(schemes) or not name.startswith(PREFIX):
                ref = {"name": self.keys.secret, "key": name}
                yield {"name": name, "valueFrom": {"secretKeyRef": ref}}

    def _is_linked(self, mount: StorageMount) -> bool:
        return not self.is_here and not mount.path.startswith("/")

    def _place(self, path: str) -> str:
        return placed(path, self.origin) if self.is_here else path

    def _shell_place(self, path: str) -> str:
        if self.is_here:
            return storage_script.quoted(self._place(path))
        return shell_path(path)


def storage_of(
    task: Task, keys: StorageKeys, origin: Origin, *, is_here: bool, in_pods: bool = False
) -> TaskStorage:
    """The storage of a task that was checked."""
    return TaskStorage(tuple(storage_mounts(task.file_mounts)), keys, origin, is_here, in_pods)


def _name(number: int) -> str:
    return f"storage-{number}"
