"""Starts mpirun in a pod once the names of all nodes can be resolved.

The name of a pod is known a moment after the pod has started, and a launcher that is a node itself
may be sooner: mpirun then takes its own name for that of a stranger, and gives up. This file
travels with a job, so it keeps to the standard library of Python 3.8.

Arguments: the command.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

HOSTFILE = "/etc/mpi/hostfile"
PATIENCE_S = 120.0
PAUSE_S = 0.2


def hosts(text: str) -> list[str]:
    """The names in a hostfile, whatever MPI it is for."""
    words = [line.split()[0] for line in text.splitlines() if line.split()]
    return [word.split(":")[0] for word in words if not word.startswith("#")]


def wait(
    names: list[str],
    resolve: Callable[[str], str] = socket.gethostbyname,
    patience_s: float = PATIENCE_S,
) -> None:
    """Wait for all names; a name that does not come is left to mpirun to complain about."""
    end = time.monotonic() + patience_s
    for name in names:
        while True:
            try:
                resolve(name)
                break
            except OSError:
                if time.monotonic() > end:
                    return
                time.sleep(PAUSE_S)


if __name__ == "__main__":
    if Path(HOSTFILE).exists():
        wait(hosts(Path(HOSTFILE).read_text("utf-8")))
    os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606 - what the job's author asks for
