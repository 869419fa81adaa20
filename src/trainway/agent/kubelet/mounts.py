"""Volumes at their real mount paths, seen by one process and its children only.

The process gets a mount namespace of its own before its program starts; without being root it needs
a user namespace too. A mount path that does not exist must not be created on the machine: its
nearest parent is covered with a small memory file system in which everything that was there is
bound again, or, where that parent is the root, such a file system becomes the root. New files right
in a covered directory are lost with the process, so that the user's own trees are never covered:
there the mount point is really made.
"""

from __future__ import annotations

import os
import posixpath
import stat

from trainway.agent.base import linux
from trainway.agent.base.kernel_files import write_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainway.agent.kubelet.bindings import Binding

_KEPT_FLAGS = ((2, 2), (4, 4), (8, 8), (1024, 1024), (2048, 2048), (4096, 1 << 21))
"""The flags, as statvfs tells them and as mount takes them, that a remount must repeat."""
_UNBINDABLE = 1 << 17
_SHADOW_OPTIONS = ("mode=0755",)


class MountView:
    """What a process shall see."""

    def __init__(self, bindings: Sequence[Binding], own_trees: Sequence[str], stage: str) -> None:
        self.bindings = bindings
        self.own_trees = own_trees
        """The directories of the user, in which mount points are made for good."""
        self.stage = stage
        """An empty directory that may become the root."""


def available(stage: str) -> bool:
    """Whether this process may have mounts of its own; tried out in a child."""
    child = os.fork()
    if not child:
        status = 1
        try:
            _private_namespace()
            linux.mount("tmpfs", stage, "tmpfs", 0, _SHADOW_OPTIONS)
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1] == 0


def enter(view: MountView) -> None:
    """Give the calling process its view; for a child between fork and exec."""
    _private_namespace()
    scene = _Scene(view)
    if any(not posixpath.exists(_top(binding.target)) for binding in view.bindings):
        scene.cover_root(view.stage)
    # All at once, since one mount may hide what is behind another.
    sources = [os.open(item.source, os.O_RDONLY | os.O_PATH) for item in view.bindings]
    for binding in view.bindings:
        scene.bind(binding, sources.pop(0))


def _private_namespace() -> None:
    uid, gid = os.getuid(), os.getgid()
    try:
        if uid != 0:
            raise linux.SystemCallError(1, "only root may do without a user namespace")
        linux.unshare(linux.CLONE_NEWNS)
    except linux.SystemCallError:
        linux.unshare(linux.CLONE_NEWUSER | linux.CLONE_NEWNS)
        write_text("/proc/self/setgroups", "deny")
        write_text("/proc/self/uid_map", f"{uid} {uid} 1")
        write_text("/proc/self/gid_map", f"{gid} {gid} 1")
    linux.mount("none", "/", "", linux.MS_REC | linux.MS_SLAVE)


def _top(path: str) -> str:
    """The directory right below the root that a path goes through."""
    return "/" + path.lstrip("/").split("/")[0]


class _Scene:
    """The mounts made so far."""

    def __init__(self, view: MountView) -> None:
        self._own_trees = [posixpath.realpath(tree) for tree in view.own_trees]
        self._made: set[str] = set()
        """The directories that exist in this view only."""
        self._here = os.open("/", os.O_RDONLY)

    def bind(self, binding: Binding, source: int) -> None:
        """Mount an open file or directory, where there may be nothing yet."""
        is_directory = stat.S_ISDIR(os.fstat(source).st_mode)
        target = posixpath.realpath(binding.target)
        if not posixpath.exists(target):
            self._make_room(target, is_directory=is_directory)
        linux.mount(f"/proc/self/fd/{source}", target, "", linux.MS_BIND | linux.MS_REC)
        if binding.read_only:
            _make_read_only(target)
        os.close(source)
        self._own_trees.append(target)

    def _make_room(self, target: str, *, is_directory: bool) -> None:
        parent = posixpath.dirname(target)
        while not posixpath.isdir(parent):
            parent = posixpath.dirname(parent)
        if parent not in self._made and not self._is_own(parent):
            self._cover(parent)
        self._make_path(parent, target, is_directory=is_directory)

    def _is_own(self, path: str) -> bool:
        return any(path == tree or path.startswith(tree + "/") for tree in self._own_trees)

    def _make_path(self, parent: str, target: str, *, is_directory: bool) -> None:
        path = parent.rstrip("/")
        parts = posixpath.relpath(target, parent).split("/")
        for part in parts if is_directory else parts[:-1]:
            path += "/" + part
            os.mkdir(path, 0o755, dir_fd=self._here)
            self._made.add(path)
        if not is_directory:
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT, 0o644))

    def _cover(self, directory: str) -> None:
        """Put a memory file system over a directory, with all that was in it."""
        old = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        mode = stat.S_IMODE(os.fstat(old).st_mode)
        linux.mount("tmpfs", directory, "tmpfs", 0, (f"mode={mode:o}",))
        self._bind_entries(f"/proc/self/fd/{old}", directory)
        os.close(old)
        self._made.add(directory)

    def cover_root(self, stage: str) -> None:
        """Make a memory file system the root, with all that was in the old one."""
        linux.mount("tmpfs", stage, "tmpfs", 0, _SHADOW_OPTIONS)
        # Else it would be bound into itself, with the directory it is in.
        linux.mount("none", stage, "", _UNBINDABLE)
        self._bind_entries("/", stage)
        os.chdir(stage)
        linux.pivot_root(".", ".")
        linux.detach(".")
        os.chdir("/")
        linux.mount("none", "/", "", linux.MS_SLAVE)
        os.close(self._here)
        self._here = os.open("/", os.O_RDONLY)
        self._made.add("/")

    def _bind_entries(self, old: str, new: str) -> None:
        with os.scandir(old) as entries:
            found = list(entries)
        for entry in found:
            target = posixpath.join(new, entry.name)
            if entry.is_symlink():
                text = os.readlink(entry.name, dir_fd=_descriptor(old, self._here))
                os.symlink(text, target, dir_fd=self._here)
                continue
            if entry.is_dir(follow_symlinks=False):
                os.mkdir(target, 0o755, dir_fd=self._here)
            else:
                os.close(os.open(target, os.O_WRONLY | os.O_CREAT, 0o644))
            linux.mount(entry.path, target, "", linux.MS_BIND | linux.MS_REC)


def _descriptor(old: str, root: int) -> int:
    return root if old == "/" else int(posixpath.basename(old))


def _make_read_only(target: str) -> None:
    current = os.statvfs(target).f_flag
    flags = linux.MS_BIND | linux.MS_REMOUNT | linux.MS_RDONLY
    for seen, wanted in _KEPT_FLAGS:
        if current & seen:
            flags |= wanted
    linux.mount("none", target, "", flags)
