"""How much room the directory of a job takes on the disk, whatever the job left in it.

Links are not followed, and what cannot be read or is gone meanwhile counts nothing.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

_BLOCK: Final = 512
"""Bytes, in which POSIX counts what a file takes."""


def room_of(path: Path) -> int:
    """Bytes of all files below a directory."""
    total, waiting = 0, [str(path)]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    total += entry.stat(follow_symlinks=False).st_blocks * _BLOCK
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
    return total
