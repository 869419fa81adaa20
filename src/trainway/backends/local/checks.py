"""What `trainway doctor` says of this machine, as far as jobs depend on it."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from trainway.backends.base import Check
from trainway.backends.local.containers import find_tool
from trainway.backends.local.mounts import can_mount


def python() -> Check:
    """What runs the agents."""
    version = ".".join(map(str, sys.version_info[:3]))
    return Check("python", ok=True, detail=f"{version} at {sys.executable}")


def disk(jobs: Path) -> Check:
    """Whether there is room for the directories of jobs."""
    free = shutil.disk_usage(_existing(jobs)).free / 2**30
    enough = free >= 1
    fix = "" if enough else f"make room on the disk of {jobs}"
    return Check("disk", ok=enough, detail=f"{free:.1f} GiB free for {jobs}", fix=fix)


def mounts() -> Check:
    """Whether pods may have mounts of their own."""
    if can_mount():
        return Check("volumes", ok=True, detail="appear at their own paths")
    fix = "allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1)"
    return Check("volumes", ok=True, detail="appear under other paths", fix=fix)


def containers() -> Check:
    """What runs images."""
    tool = find_tool()
    if tool is not None:
        return Check("containers", ok=True, detail=f"{tool.name} at {tool.program}")
    fix = "install podman or docker to run jobs with --image or --containers"
    return Check("containers", ok=True, detail="neither podman nor docker", fix=fix)


def gpus(found: Sequence[str]) -> Check:
    """The GPUs that were found, and whether there are others."""
    detail = f"{len(found)} ({', '.join(found)})" if found else "none found"
    devices = [name for name in ("/dev/nvidia0", "/dev/kfd") if Path(name).exists()]
    if found or not devices:
        return Check("gpus", ok=True, detail=detail)
    fix = "install the driver's libraries (libnvidia-ml.so.1)"
    return Check("gpus", ok=False, detail=f"{devices[0]} is there, but {detail}", fix=fix)


def _existing(path: Path) -> Path:
    """The path, or the nearest directory above it that exists."""
    return path if path.exists() else _existing(path.parent)
