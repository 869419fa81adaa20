"""Whether a disk is full, as far as whoever asks can write to it."""

import os
from pathlib import Path
from typing import Final

_LITTLE: Final = 64 << 10
"""Nothing can be done with fewer free bytes than these."""


def full_disk(path: Path) -> str:
    """What to say of the disk of a directory that is full; empty: it is not."""
    try:
        found = os.statvfs(path)
    except OSError:
        return ""
    blocks = found.f_bfree if os.geteuid() == 0 else found.f_bavail
    if found.f_blocks and blocks * found.f_frsize < _LITTLE:
        return f"the disk of {path} is full"
    if found.f_files and not found.f_ffree:
        return f"the disk of {path} has no room for more files"
    return ""
