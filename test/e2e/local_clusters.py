"""An installation on a small machine, with clusters whose agents end with the tests."""

import contextlib
import json
import os
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from installation import Installation, all_pids, installed


@contextlib.contextmanager
def on_machine(folder: Path, machine: Mapping[str, Any]) -> Iterator[Installation]:
    """An installation whose machine has so much."""
    with installed(folder, {"TRAINWAY_LOCAL_CAPACITY": json.dumps(machine)}) as installation:
        yield installation
    for pid in agents(folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)


def agents(home: Path) -> list[int]:
    """The agents of pools and hosts that belong to a home directory."""
    folder = os.fsencode(home / "pools")
    found = []
    for pid in all_pids():
        with contextlib.suppress(OSError):
            if folder in command_line(pid):
                found.append(pid)
    return found


def command_line(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()
