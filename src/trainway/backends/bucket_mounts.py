"""Buckets that a job mounts: whether a place can do that, asked before the job is accepted.

It needs rclone and FUSE where the processes run. The same question is put to this machine and, by
ssh, to others; what it prints is what is missing there.
"""

import json
import os
import subprocess
from collections.abc import Mapping
from typing import Final

from trainway.backends.base import Isolation, isolation_of
from trainway.jobset.labels import TASK_MOUNTS
from trainway.json_types import Json

QUESTION: Final = """\
command -v rclone >/dev/null || echo "rclone is not installed"
[ -r /dev/fuse ] && [ -w /dev/fuse ] || echo "there is no FUSE (/dev/fuse)"
command -v fusermount3 >/dev/null || command -v fusermount >/dev/null || \
echo "fuse3 is not installed"
command -v unshare >/dev/null || echo "unshare is not installed"
"""
REMEDY: Final = "install rclone and fuse3 there, or use mode: COPY"
_IN_CONTAINERS: Final = "buckets cannot be mounted in containers; use mode: COPY"
_LIMIT_S: Final = 10
_USUAL: Final = "/usr/local/bin:/usr/bin:/bin"


def paths(jobset: Json) -> list[str]:
    """Where the tasks of a JobSet want buckets to be mounted."""
    metadata = jobset.get("metadata") or {}
    text = (metadata.get("annotations") or {}).get(TASK_MOUNTS)
    try:
        told = json.loads(text) if isinstance(text, str) else {}
    except (ValueError, RecursionError):
        return []
    roles = told.values() if isinstance(told, dict) else ()
    return [str(path) for found in roles if isinstance(found, list) for path in found]


def refusal(jobset: Json, why: str) -> list[str]:
    """Why a job is refused for the buckets that it mounts: one line for each."""
    return [f"file_mounts[{path}]: {why}" for path in paths(jobset)] if why else []


def in_containers(jobset: Json) -> list[str]:
    """Why a job is refused that mounts buckets and runs in containers."""
    return refusal(jobset, _IN_CONTAINERS if isolation_of(jobset) is Isolation.CONTAINER else "")


def here(jobset: Json, environ: Mapping[str, str] | None = None) -> list[str]:
    """Why a job is refused by this machine for the buckets that it mounts."""
    if not paths(jobset):
        return []
    known = os.environ if environ is None else environ
    path = f"{known.get('PATH') or ''}:{_USUAL}"
    try:
        asked = subprocess.run(  # noqa: S603 - our own text
            ["/bin/sh", "-c", QUESTION],
            env={"PATH": path},
            check=False,
            capture_output=True,
            timeout=_LIMIT_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []  # the job itself will say it
    missing = ", ".join(asked.stdout.decode(errors="replace").splitlines())
    why = f"{missing} on this machine; {REMEDY}" if missing else ""
    return in_containers(jobset) or refusal(jobset, why)
