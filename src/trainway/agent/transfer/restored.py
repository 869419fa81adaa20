"""Output that a job left on another host, put where the job goes on."""

from __future__ import annotations

import binascii
import os
from contextlib import suppress

from trainway.agent.base.directory import PRIVATE_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.agent.base.directory import Directory
    from trainway.json_types import Json


PART = ".trainway-part"
DEFAULT_MODE = 0o644
FOLDER_MODE = 0o755


class RestoredError(Exception):
    """A file cannot be put there."""


def restore(directory: Directory, frame: Json) -> tuple[int, int] | None:
    """Take a piece of a file; once it is whole, what tells its state: size and time.

    The job may run here already: no link that it has made leads a file elsewhere.
    """
    above, _, name = _checked(str(frame["path"])).rpartition("/")
    with directory.folder(above, FOLDER_MODE) as folder:
        if frame.get("link"):
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
            os.symlink(str(frame["link"]), name, dir_fd=folder)
        elif not _take(f"{name}{PART}", folder, frame):
            return None
        else:
            os.replace(f"{name}{PART}", name, src_dir_fd=folder, dst_dir_fd=folder)
        _set_time(name, folder, frame)
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    return (0 if frame.get("link") else status.st_size), status.st_mtime_ns


def _take(part: str, folder: int, frame: Json) -> bool:
    """Write a piece; whether it was the last one."""
    offset = int(frame.get("offset") or 0)
    if not offset:
        with suppress(FileNotFoundError):
            os.unlink(part, dir_fd=folder)
    flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC | (0 if offset else os.O_CREAT | os.O_EXCL)
    with os.fdopen(os.open(part, flags, PRIVATE_FILE, dir_fd=folder), "wb") as file:
        file.seek(offset)
        file.write(binascii.a2b_base64(frame.get("data") or ""))
        if frame.get("last"):
            os.fchmod(file.fileno(), int(frame.get("mode") or DEFAULT_MODE))
    return bool(frame.get("last"))


def _set_time(name: str, folder: int, frame: Json) -> None:
    moment = frame.get("mtime_ns")
    if moment is None and frame.get("mtime") is not None:
        moment = round(float(frame["mtime"]) * 1e9)
    if moment is not None:
        times = (int(moment), int(moment))
        os.utime(name, ns=times, dir_fd=folder, follow_symlinks=False)


def _checked(path: str) -> str:
    parts = path.split("/")
    if len(parts) < 2 or parts[0] != "output" or any(part in ("", ".", "..") for part in parts):
        raise RestoredError(f"{path!r} is not a path below output/")
    return path
