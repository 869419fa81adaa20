"""Make an environment with training frameworks: `training_environment.py REQUIREMENT...`.

Torch and its like are never dependencies of the package, yet the demo, the tests and the benchmarks
train for real. Each list of requirements has one virtual environment, made by uv on first use and
kept in the user's cache, outside the repository. The last line on stdout is its folder; uv's own
progress goes to stderr.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

COMPLETE = "complete"
BYTECODE_S = "900"
"""How long one file may take to be compiled: on a machine where all else comes first, uv's minute
is not enough."""


def main(requirements: list[str]) -> int:
    """Make the environment unless it is there, and print its folder."""
    if not requirements:
        print("name at least one requirement", file=sys.stderr)
        return 2
    folder = environment_folder(requirements)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_made(requirements):
            done = install(folder, requirements)
            if done != 0:
                return done
    print(folder)
    return 0


def is_made(requirements: list[str]) -> bool:
    """Whether the environment is there already."""
    return (environment_folder(requirements) / COMPLETE).exists()


def environment_folder(requirements: list[str]) -> Path:
    """The folder that belongs to these requirements on this Python."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    content = "\n".join([sys.version, sys.base_prefix, *sorted(requirements)])
    return cache / "trainway" / "envs" / hashlib.sha256(content.encode()).hexdigest()[:12]


def install(folder: Path, requirements: list[str]) -> int:
    """Fill the folder anew; the mark comes last, so a broken one is never used."""
    uv = uv_command()
    if uv is None:
        print("uv is not here: `make install` brings it", file=sys.stderr)
        return 1
    shutil.rmtree(folder, ignore_errors=True)
    create = [uv, "venv", "--quiet", "--python", sys.executable, str(folder)]
    # Compiled ahead: where Python may not write bytecode, torch takes seconds longer to import.
    fill = [uv, "pip", "install", "--compile-bytecode", "--python", str(folder), *requirements]
    patient = {**os.environ, "UV_COMPILE_BYTECODE_TIMEOUT": BYTECODE_S}
    for command in (create, fill):
        done = subprocess.run(command, stdout=sys.stderr, check=False, env=patient).returncode
        if done != 0:
            return done
    (folder / COMPLETE).touch()
    return 0


def uv_command() -> str | None:
    """The uv beside this Python, else the one on the PATH."""
    beside = Path(sys.executable).with_name("uv")
    return str(beside) if beside.exists() else shutil.which("uv")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
