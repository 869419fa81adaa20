"""Files of the kernel, as /proc and /sys have them: read and written whole."""

from __future__ import annotations

import os


def read_text(path: str) -> str:
    """What is in a file; empty: it is not there, or not for us."""
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def write_text(path: str, text: str) -> None:
    """Write to a file that is there, in one call as the kernel wants it."""
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
