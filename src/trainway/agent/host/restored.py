"""Output that a job left on another host, put where the job goes on."""

from __future__ import annotations

import binascii
import os
import posixpath

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trainway.agent.directory import Directory

    Json = dict[str, Any]

PART = ".trainway-part"
DEFAULT_MODE = 0o644


class RestoredError(Exception):
    """A file cannot be put there."""


def restore(directory: Directory, frame: Json) -> tuple[int, int] | None:
    """Take a piece of a file; once it is whole, what tells its state: size and time."""
    path = _checked(str(frame["path"]))
    directory.make(posixpath.dirname(path), 0o755)
    if frame.get("link"):
        directory.remove(path)
        os.symlink(str(frame["link"]), path, dir_fd=directory.fd)
    else:
        part = f"{path}{PART}"
        offset = int(frame.get("offset") or 0)
        flags = os.O_WRONLY | os.O_CREAT | (0 if offset else os.O_TRUNC)
        fd = directory.open(part, flags)
        with os.fdopen(fd, "wb") as file:
            file.seek(offset)
            file.write(binascii.a2b_base64(frame.get("data") or ""))
        if not frame.get("last"):
            return None
        os.chmod(part, int(frame.get("mode") or DEFAULT_MODE), dir_fd=directory.fd)
        os.replace(part, path, src_dir_fd=directory.fd, dst_dir_fd=directory.fd)
    _set_time(directory, path, frame)
    status = os.stat(path, dir_fd=directory.fd, follow_symlinks=False)
    return (0 if frame.get("link") else status.st_size), status.st_mtime_ns


def _set_time(directory: Directory, path: str, frame: Json) -> None:
    moment = frame.get("mtime_ns")
    if moment is None and frame.get("mtime") is not None:
        moment = round(float(frame["mtime"]) * 1e9)
    if moment is not None:
        times = (int(moment), int(moment))
        os.utime(path, ns=times, dir_fd=directory.fd, follow_symlinks=False)


def _checked(path: str) -> str:
    parts = path.split("/")
    if len(parts) < 2 or parts[0] != "output" or any(part in ("", ".", "..") for part in parts):
        raise RestoredError(f"{path!r} is no path below output/")
    return path
