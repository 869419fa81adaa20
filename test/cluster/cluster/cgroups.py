"""The control groups of a node's pods: a root of their own, so that what is left is found."""

import os
import signal
from functools import partial
from pathlib import Path
from typing import Final

from cluster.processes import wait_until

MOUNT: Final = Path("/sys/fs/cgroup")


def hierarchies() -> list[Path]:
    """Where groups are made: one place with version 2, one per controller with version 1."""
    if (MOUNT / "cgroup.controllers").exists():
        return [MOUNT]
    return [path for path in sorted(MOUNT.iterdir()) if (path / "cgroup.procs").exists()]


def create_root(name: str) -> None:
    """The group under which all pods of a node run."""
    for hierarchy in hierarchies():
        (hierarchy / name).mkdir(exist_ok=True)


def delete_root(name: str) -> None:
    """Kill what still runs in the pods and remove their groups."""
    roots = [hierarchy / name for hierarchy in hierarchies()]
    for root in roots:
        for group in groups(root):
            wait_until(partial(is_empty, group), 5)
    for root in roots:
        for group in groups(root):
            remove(group)


def groups(root: Path) -> list[Path]:
    """The group and those below it, the lowest first."""
    return [Path(path) for path, _, _ in os.walk(root, topdown=False)]


def is_empty(group: Path) -> bool:
    """Kill the processes of a group; whether there were none."""
    try:
        members = [int(line) for line in (group / "cgroup.procs").read_text().split()]
    except OSError:
        return True
    for pid in members:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    return not members


def remove(group: Path) -> None:
    """Remove a group, as soon as the kernel lets go of it."""
    wait_until(partial(is_removed, group), 5)


def is_removed(group: Path) -> bool:
    try:
        group.rmdir()
    except OSError:
        return not group.exists()
    return True
