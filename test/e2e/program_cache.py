"""Programs of others that tests use, had once for each machine and kept in the user's cache.

Those in Go are compiled with the flags of the cluster's programs: so the standard library is
compiled once for all of them, and they take less of the processor than Go would by default.
"""

import fcntl
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from cluster.builds import COMPILER_FLAGS, COMPILER_GOGC
from environments import last_line, unavailable

Done = subprocess.CompletedProcess[str]
GO: Final = {"CGO_ENABLED": "0", "GOWORK": "off", **COMPILER_GOGC}


def go_program(name: str, package: str, version: str) -> Path:
    """A program of a published Go module."""

    def compiled(folder: Path) -> Done:
        return run(go_command(package, version), {**GO, "GOBIN": str(folder)})

    return had(name, version, compiled) / name


def go_command(package: str, version: str) -> list[str]:
    """What compiles it; the variable GOBIN says where it goes."""
    return ["go", "install", *COMPILER_FLAGS, "-ldflags", "-s -w", f"{package}@{version}"]


def had(name: str, version: str, get: Callable[[Path], Done]) -> Path:
    """The folder of a program, which is filled on first use; it is whole if it is there."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = root / "trainway" / name / version
    if folder.exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{version}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():  # another process may have got it meanwhile
            partial = folder.with_name(f"partial-{version}")
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            try:
                done = get(partial)
            except FileNotFoundError as error:
                unavailable(f"{name}: {error.filename} is not found, and it is had with it")
            if done.returncode != 0:
                unavailable(f"{name}: {last_line(done.stderr)}")
            partial.rename(folder)
    return folder


def run(command: Sequence[str], variables: Mapping[str, str]) -> Done:
    """Run a step that gets a program."""
    return subprocess.run(
        command, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
