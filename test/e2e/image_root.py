"""An image as a folder: a shell, `cat`, and a Python of this machine with what they load."""

import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Final

PYTHON: Final = Path("/usr/bin/python3")
PROGRAMS: Final = (Path("/bin/sh"), Path("/bin/cat"))

EMPTY: Final = ("dev", "etc", "home", "proc", "root", "sys", "tmp", "var/tmp")
"""The folders that every root has."""
UNUSED: Final = ("dist-packages", "config-*", "ensurepip", "idlelib", "lib2to3", "test", "tkinter")
"""Of the library of Python; compiled files stay, so that each start does not compile anew."""


def make_image_root(root: Path, mark: str) -> Path:
    """Write the folder; `/image` in it says which one it is."""
    library = standard_library()
    skipped = shutil.ignore_patterns(*UNUSED)
    shutil.copytree(library, root / library.relative_to("/"), ignore=skipped, symlinks=True)
    programs = [PYTHON, *PROGRAMS]
    for file in {*programs, *libraries([*programs, *library.glob("lib-dynload/*.so")])}:
        target = root / file.relative_to("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
    for name in EMPTY:
        (root / name).mkdir(parents=True)
    for name in ("passwd", "group", "hosts"):
        shutil.copy(f"/etc/{name}", root / "etc")
    (root / "image").write_text(f"{mark}\n")
    return root


def standard_library() -> Path:
    command = [str(PYTHON), "-I", "-S", "-c", "import os; print(os.path.dirname(os.__file__))"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True)
    return Path(printed.stdout.strip())


def libraries(files: Iterable[Path]) -> set[Path]:
    """What the loader finds for these files, and the loader itself."""
    command = ["ldd", *map(str, files)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {Path(path) for path in re.findall(r"(?:=> |^\t)(/\S+) \(", printed, re.MULTILINE)}
