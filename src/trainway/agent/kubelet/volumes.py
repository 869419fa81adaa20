"""The volumes of a pod as directories of this machine.

Those that live as long as the pod are below `volumes/<pod>.<uid>/` in the job's directory, claims
below `volumes/pvc-<claim>` for all pods of the job. A volume that asks for memory is in /dev/shm
where there is one. Files of Secrets are for the owner only unless a mode is given.
"""

from __future__ import annotations

import errno
import os
import posixpath
import stat

from trainway.agent.kubelet.bindings import Binding
from trainway.agent.kubelet.environment import expand
from trainway.agent.kubelet.objects import MissingError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trainway.agent.base.directory import Directory
    from trainway.agent.base.pod_identity import PodIdentity
    from trainway.agent.kubelet.downward import Downward
    from trainway.agent.kubelet.objects import Objects
    from trainway.json_types import Json

    Content = bytes | str
    """The bytes of a file, or the digest of one that the job has."""

MEMORY = "/dev/shm"  # noqa: S108 - that is where it is
PUBLIC_FILE, SECRET_FILE = 0o644, 0o600
PUBLIC_DIRECTORY = 0o755
BLOBS = "blobs"
"""Where a job has its files, by their digests."""
PIECE = 1024 * 1024
_HOST_PATH_KINDS = {
    "Directory": stat.S_ISDIR,
    "DirectoryOrCreate": stat.S_ISDIR,
    "File": stat.S_ISREG,
    "FileOrCreate": stat.S_ISREG,
    "Socket": stat.S_ISSOCK,
    "CharDevice": stat.S_ISCHR,
    "BlockDevice": stat.S_ISBLK,
}


class Volume:
    """One volume, ready to be mounted."""

    def __init__(self, path: str, *, fixed: bool = False) -> None:
        self.path = path
        self.fixed = fixed
        """Whether its content is given, so that it is mounted read-only."""


class PodVolumes:
    """Makes the volumes of one pod and says what its containers see of them."""

    def __init__(
        self, pod: PodIdentity, directory: Directory, objects: Objects, downward: Downward
    ) -> None:
        self._pod = pod
        self._directory = directory
        self._objects = objects
        self._downward = downward
        self._home = f"volumes/{pod.key}.{pod.uid[:8]}"
        self._volumes: dict[str, Volume] = {}
        self.temporary: list[str] = []
        """The directories that are removed with the pod."""

    def make(self) -> None:
        """Make all volumes of the pod; MissingError says what stands in the way."""
        specs = [*(self._pod.role.pod_spec.get("volumes") or []), *self._claimed()]
        for spec in specs:
            try:
                self._volumes[spec["name"]] = self._made(spec)
            except OSError as error:
                reason = f'volume "{spec["name"]}": {error.strerror}: {error.filename}'
                raise MissingError(reason) from error

    def bindings(self, container: Json, env: Mapping[str, str]) -> list[Binding]:
        """What a container mounts."""
        found = []
        for mount in container.get("volumeMounts") or []:
            volume = self._volumes.get(mount.get("name"))
            if volume is None:
                raise MissingError(f'there is no volume "{mount.get("name")}"')
            source = self._with_sub_path(volume, mount, env)
            read_only = volume.fixed or bool(mount.get("readOnly"))
            found.append(Binding(source, str(mount["mountPath"]), read_only=read_only))
        return found

    def _claimed(self) -> Iterator[Json]:
        """The volumes that JobSet adds to pods that mount a claim of its volumeClaimPolicies."""
        spec = self._pod.role.pod_spec
        containers = [*(spec.get("initContainers") or []), *(spec.get("containers") or [])]
        mounted = {m.get("name") for c in containers for m in c.get("volumeMounts") or []}
        for policy in self._pod.plan.spec.get("volumeClaimPolicies") or []:
            for template in policy.get("templates") or []:
                name = (template.get("metadata") or {}).get("name")
                if name in mounted:
                    claim = f"{name}-{self._pod.plan.name}"
                    yield {"name": name, "persistentVolumeClaim": {"claimName": claim}}

    def _made(self, spec: Json) -> Volume:
        name = _component(spec["name"])
        kind = next((key for key in spec if key != "name" and spec[key] is not None), "emptyDir")
        source: Json = spec.get(kind) or {}
        if kind == "hostPath":
            return Volume(self._host_path(name, source))
        if kind == "persistentVolumeClaim":
            path = f"volumes/pvc-{_component(source.get('claimName'))}"
            self._directory.make(path, PUBLIC_DIRECTORY)
            return Volume(self._directory.join(path))
        if kind in ("emptyDir", "ephemeral"):
            return Volume(self._empty(name, source))
        files = list(self._files(name, kind, source))
        path = f"{self._home}/{name}"
        self._make_temporary()
        self._directory.make(path, PUBLIC_DIRECTORY)
        for file_name, data, mode in files:
            folder = posixpath.dirname(file_name)
            if folder:
                self._directory.make(f"{path}/{folder}", PUBLIC_DIRECTORY)
            if isinstance(data, str):
                self._have_file(data, f"{path}/{file_name}", mode)
            else:
                self._directory.write(f"{path}/{file_name}", data, mode)
        return Volume(self._directory.join(path), fixed=True)

    def _have_file(self, digest: str, path: str, mode: int) -> None:
        """Have a file of the job at a path: the same one, if all that use it may read it so."""
        fd, source = self._directory.fd, f"{BLOBS}/{digest}"
        if mode == PUBLIC_FILE:
            os.chmod(source, mode, dir_fd=fd)
            try:
                os.link(source, path, src_dir_fd=fd, dst_dir_fd=fd)
            except OSError as error:
                if error.errno not in (errno.EMLINK, errno.EPERM, errno.EXDEV):
                    raise
            else:
                return
        with os.fdopen(self._directory.open(source, os.O_RDONLY), "rb") as given:
            made = self._directory.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            with os.fdopen(made, "wb") as copy:
                for piece in iter(lambda: given.read(PIECE), b""):
                    copy.write(piece)
                os.fchmod(copy.fileno(), mode)

    def _make_temporary(self) -> None:
        self._directory.make(self._home)
        whole = self._directory.join(self._home)
        if whole not in self.temporary:
            self.temporary.append(whole)

    def _empty(self, name: str, source: Json) -> str:
        if source.get("medium") == "Memory" and os.access(MEMORY, os.W_OK):
            pod = self._pod
            path = f"{MEMORY}/trainway-{pod.plan.id}-{pod.key}.{pod.uid[:8]}-{name}"
            _make_private(path)
            self.temporary.append(path)
            return path
        self._make_temporary()
        path = self._directory.join(self._home, name)
        self._directory.make(path, PUBLIC_DIRECTORY)
        return path

    def _host_path(self, name: str, source: Json) -> str:
        path, wanted = str(source["path"]), str(source.get("type") or "")
        if wanted == "DirectoryOrCreate":
            self._directory.make(path, PUBLIC_DIRECTORY)
        elif wanted == "FileOrCreate":
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, PUBLIC_FILE))
        try:
            fd = os.open(path, os.O_RDONLY | os.O_PATH)
        except FileNotFoundError:
            raise MissingError(
                f'volume "{name}": hostPath {path} does not exist on this machine'
            ) from None
        mode = os.fstat(fd).st_mode
        os.close(fd)
        if wanted in _HOST_PATH_KINDS and not _HOST_PATH_KINDS[wanted](mode):
            raise MissingError(
                f'volume "{name}": hostPath type check failed: {path} is not a {wanted}'
            )
        return path

    def _files(self, name: str, kind: str, source: Json) -> Iterator[tuple[str, Content, int]]:
        """The files of a volume of given content: name, data and mode."""
        if kind == "projected":
            for part in source.get("sources") or []:
                for part_kind, part_source in part.items():
                    if part_kind != "serviceAccountToken":
                        inner = dict(part_source, defaultMode=source.get("defaultMode"))
                        yield from self._files(name, part_kind, inner)
        elif kind == "downwardAPI":
            for item in source.get("items") or []:
                value = self._downward.value(item, {}).encode("utf-8", "surrogateescape")
                yield _safe(item["path"]), value, _mode(item, source, PUBLIC_FILE)
        elif kind == "configMap":
            yield from self._object_files("ConfigMap", source.get("name"), source, PUBLIC_FILE)
        elif kind == "secret":
            secret = source.get("secretName") or source.get("name")
            yield from self._object_files("Secret", secret, source, SECRET_FILE)
        else:
            raise MissingError(f'volume "{name}": {kind} volumes do not exist on this machine')

    def _object_files(
        self, kind: str, name: object, source: Json, default: int
    ) -> Iterator[tuple[str, Content, int]]:
        optional = bool(source.get("optional"))
        data: dict[str, Content] = {
            **self._objects.data(kind, str(name or ""), optional=optional),
            **self._objects.files(kind, str(name or "")),
        }
        items = source.get("items")
        if not items:
            for key, value in data.items():
                yield _safe(key), value, _mode({}, source, default)
            return
        for item in items:
            if item["key"] in data:
                yield _safe(item["path"]), data[item["key"]], _mode(item, source, default)
            elif not optional:
                raise MissingError(f"references non-existent {kind.lower()} key: {item['key']}")

    def _with_sub_path(self, volume: Volume, mount: Json, env: Mapping[str, str]) -> str:
        sub_path = str(mount.get("subPath") or "")
        if mount.get("subPathExpr"):
            sub_path = expand(str(mount["subPathExpr"]), env)
            if "$(" in sub_path:
                raise MissingError(f"missing value for {sub_path}")
        if not sub_path:
            return volume.path
        path = posixpath.join(volume.path, _safe(sub_path))
        self._check_inside(volume, path, sub_path)
        if not posixpath.exists(path):
            if volume.fixed:
                raise MissingError(f"subPath {sub_path} does not exist in the volume")
            self._directory.make(path, PUBLIC_DIRECTORY)
            self._check_inside(volume, path, sub_path)
        return path

    @staticmethod
    def _check_inside(volume: Volume, path: str, sub_path: str) -> None:
        """Refuse what leaves the volume by links, which containers may have put there."""
        inside = posixpath.realpath(volume.path) + "/"
        if not (posixpath.realpath(path) + "/").startswith(inside):
            raise MissingError(f"subPath {sub_path} leads out of the volume")


def _component(name: object) -> str:
    """The name of one folder; anything else might lead elsewhere."""
    text = str(name or "")
    if text in ("", ".", "..") or "/" in text or "\0" in text:
        raise MissingError(f'"{text}" is not the name of a folder')
    return text


def _make_private(path: str) -> None:
    """Make a directory for us alone where others may have one of that name ready for us."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        status = os.lstat(path)
        is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
        if not is_ours or stat.S_IMODE(status.st_mode) & 0o077:
            raise MissingError(f"{path} already exists, and others can use it") from None


def _safe(path: str) -> str:
    """A path that stays below where it is put."""
    if path.startswith("/") or ".." in path.split("/") or not path or "\0" in path:
        raise MissingError(f'path "{path}" must be relative and must not contain ".."')
    return path


def _mode(item: Json, source: Json, default: int) -> int:
    for mode in (item.get("mode"), source.get("defaultMode")):
        if mode is not None:
            return int(mode)
    return default
