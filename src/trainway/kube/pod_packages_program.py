"""Installs packages into a folder with what an image has: uv, else pip. It runs in the image.

It travels as text, needs only the standard library of Python 3.8, and says why it failed where
Kubernetes reads the last words of a container.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LAST_WORDS = "/dev/termination-log"


def main(target: str, text: str) -> int:
    """Install what the lines of a requirements file name; the exit status."""
    lines = text.splitlines()
    if lines and all(is_there(line) for line in lines):
        return 0
    uv = shutil.which("uv")
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    if uv:
        command = [uv, "pip", "install", "--python", sys.executable]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(text + "\n")
        file.flush()
        done = subprocess.run(  # noqa: S603 - what the job asks for
            [*command, "--target", target, "-r", file.name],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            check=False,
        )
    said = done.stdout.decode("utf-8", "replace")
    print(said, end="", flush=True)  # noqa: T201 - the log of the container
    if done.returncode:
        errors = [line.strip() for line in said.splitlines() if "rror" in line or "\u00d7" in line]
        tell("the packages could not be installed: " + " ".join(errors[-2:])[:400])
    return 1 if done.returncode else 0


def is_there(line: str) -> bool:
    """Whether the image has it; of versions only NAME==VERSION is understood."""
    match = re.fullmatch(r"([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:==\s*([A-Za-z0-9.+!_-]+))?", line)
    if match is None:
        return False
    try:
        from importlib import metadata  # noqa: PLC0415 - older Pythons have none

        found = metadata.version(match.group(1))
    except Exception:  # noqa: BLE001 - not there, or not to be read
        return False
    return match.group(2) in (None, found)


def tell(text: str) -> None:
    """Leave the last words."""
    print(text, flush=True)  # noqa: T201 - the log of the container
    if Path(LAST_WORDS).exists():
        Path(LAST_WORDS).write_text(text, "utf-8")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
