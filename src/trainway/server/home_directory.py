"""The home directory as it has to be: ours, and written by nobody else.

Its files are for their owner alone, whatever the directory's own mode (the server's umask sees to
it). So a directory that others may look into will do; one that others may write to will not, since
they could put there what we then run. What was there before us is never changed, except that a
directory with nothing in it but files of ours is closed to others.
"""

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from trainway.errors import TrainwayError

PRIVATE: Final = 0o700
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_WRITABLE: Final = stat.S_IWGRP | stat.S_IWOTH
_OURS: Final = ("server.", ".server.", "trainway.db", "config.yaml", "token")
"""How the names of our own files begin."""
_ELSEWHERE: Final = "set TRAINWAY_HOME to a directory of your own"


class HomeError(TrainwayError):
    """The home directory cannot be used."""

    code = "home"


def prepare_home(path: Path, user: int | None = None) -> None:
    """Make the directory, or see that it can be used; HomeError says why not and what to do."""
    path.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
    opened = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        status = os.fstat(opened)
        mode = stat.S_IMODE(status.st_mode)
        if status.st_uid != (os.geteuid() if user is None else user):
            raise HomeError(f"{path} belongs to another user", hint=_ELSEWHERE)
        if mode & stat.S_ISVTX:
            raise HomeError(
                f"{path} is shared by several users",
                hint=f"set TRAINWAY_HOME={path}/NAME to use a directory of your own in it",
            )
        if mode & _OTHERS and _is_ours(os.listdir(opened)):  # noqa: PTH208 - of what was looked at
            os.fchmod(opened, PRIVATE)
        elif mode & _WRITABLE:
            raise HomeError(
                f"other users may write to {path}", hint=f"chmod go-w {path}, or {_ELSEWHERE}"
            )
    finally:
        os.close(opened)


def _is_ours(names: Iterable[str]) -> bool:
    """Whether there is nothing but what a server or its owner puts there at first."""
    return all(name.startswith(_OURS) for name in names)
