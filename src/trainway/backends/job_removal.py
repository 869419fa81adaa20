"""Deleting the directory of a job, whatever the job left in it.

Nothing outside is touched, wherever links lead; what was made read-only goes too, and so does what
is nested deeper than a program may have files open: each folder is moved to the top before it is
emptied, so that none is ever deep.
"""

import errno
import os
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

_FOLDER: Final = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LISTED: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_RANDOM: Final = 8
_PAUSES_S: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


def remove_tree(path: Path) -> None:
    """Delete a directory; it may be gone already. Of a link only the link is removed.

    Whoever still ends in there may write a last file meanwhile: then it is begun anew.
    """
    for pause in _PAUSES_S:
        try:
            _remove(path)
        except OSError as error:
            if error.errno != errno.ENOTEMPTY:
                raise
            time.sleep(pause)
        else:
            return
    _remove(path)


def _remove(path: Path) -> None:
    try:
        top = os.open(path, _FOLDER)
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno not in (errno.ENOTDIR, errno.ELOOP):
            raise
        path.unlink(missing_ok=True)
        return
    try:
        _let_in(top)
        waiting = _emptied(top, top)
        while waiting:
            name = waiting.pop()
            inner = os.open(name, _FOLDER, dir_fd=top)
            try:
                waiting += _emptied(inner, top)
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)
    with suppress(FileNotFoundError):
        path.rmdir()


def _emptied(folder: int, top: int) -> list[str]:
    """Remove all files of a folder and move its folders to the top; their names there."""
    moved = []
    listed = os.open(".", _LISTED, dir_fd=folder)
    try:
        with os.scandir(listed) as entries:
            found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    finally:
        os.close(listed)
    for name, is_folder in found:
        with suppress(FileNotFoundError):
            if is_folder:
                moved.append(_moved(name, folder, top))
            else:
                os.unlink(name, dir_fd=folder)
    return moved


def _moved(name: str, folder: int, top: int) -> str:
    inner = os.open(name, _FOLDER, dir_fd=folder)
    try:
        _let_in(inner)
    finally:
        os.close(inner)
    new = f".{os.urandom(_RANDOM).hex()}"
    os.rename(name, new, src_dir_fd=folder, dst_dir_fd=top)
    return new


def _let_in(folder: int) -> None:
    """Let the owner do everything in a folder: that which is open, whatever has its name by now."""
    if stat.S_IMODE(os.fstat(folder).st_mode) & stat.S_IRWXU != stat.S_IRWXU:
        os.chmod(f"/proc/self/fd/{folder}", stat.S_IRWXU)  # noqa: PTH101 - not a path
