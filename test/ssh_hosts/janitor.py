"""Removes what machines leave: `janitor.py FOLDER NAME`, once its input ends.

It is a process of its own so that it also clears up after a test run that was killed. The cgroups
of nodes of Slurm, whose names begin with NAME, are removed from the innermost outwards, which works
once the last process in them is gone.
"""

import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

CGROUPS: Final = Path("/sys/fs/cgroup")
PATIENCE_S: Final = 60.0


def cgroups_of(name: str) -> list[Path]:
    """The directories of the nodes of a cluster, or of one node, in all hierarchies."""
    return sorted(CGROUPS.glob(f"*/slurm_{name}*"))


def remove_cgroups(name: str, patience_s: float = PATIENCE_S) -> bool:
    """Remove them; false if one is still in use at the end."""
    deadline = time.monotonic() + patience_s
    while remaining := cgroups_of(name):
        for top in remaining:
            for folder in _innermost_first(top):
                try:
                    folder.rmdir()
                except OSError:
                    break
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def _innermost_first(top: Path) -> Iterator[Path]:
    for folder, _, _ in os.walk(top, topdown=False):
        yield Path(folder)


def main(folder: str, name: str) -> None:
    sys.stdin.read()
    if name:
        remove_cgroups(name)
    deadline = time.monotonic() + PATIENCE_S
    while Path(folder).exists() and time.monotonic() < deadline:
        shutil.rmtree(folder, ignore_errors=True)  # a daemon that is being killed may still write


if __name__ == "__main__":
    main(*sys.argv[1:])
