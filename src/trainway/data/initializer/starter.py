"""Where an initializer starts on a host: finds a Python that can run it, or says what is missing.

Hosts have some Python, maybe an old one, and no packages of ours. The hub, web servers and files
need a Python of version 3.11 and nothing else; buckets need obstore, too. It is looked for in this
order: this Python, another one on PATH, one that uv brings, and this Python with what pip installs
into a folder of the user's cache. This module itself must run with Python 3.8.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OLDEST = (3, 11)
NEWEST_KNOWN = 14
PACKAGE = "obstore"
BUCKETS = ("s3", "gs", "az", "r2")
FAILED = 1
REFUSED = 2
STARTED = "TRAINWAY_INITIALIZER_STARTED"
"""Set for a Python that was chosen, so that none is looked for twice."""
_INSTALL_S = 600


def needed(environment: Mapping[str, str]) -> str:
    """The package that the URI needs; empty: none."""
    scheme = environment.get("STORAGE_URI", "").strip().partition("://")[0].lower()
    return PACKAGE if scheme in BUCKETS else ""


def others() -> list[str]:
    """The names of Pythons that may do."""
    minors = range(NEWEST_KNOWN, OLDEST[1] - 1, -1)
    return ["python3", *(f"python{OLDEST[0]}.{minor}" for minor in minors)]


def missing(package: str) -> str:
    """What to say where no Python was found."""
    least = ".".join(map(str, OLDEST))
    what = f"Python {least} or later" + (f" with the package {package}" if package else "")
    have = f"{sys.executable} is Python {sys.version_info[0]}.{sys.version_info[1]}"
    do = f"install Python {least}, or uv, which brings one"
    if package:
        do = f"install {package} there (python3 -m pip install {package}), or uv, which brings it"
    return f"error: this host has no {what}: {have}\nhint: {do}"


def main(arguments: Sequence[str]) -> int:
    """Run the initializer with a Python that can, in place of this one."""
    package = needed(os.environ)
    if is_enough(package):
        from trainway.data.initializer.program import main as run  # noqa: PLC0415 - needs OLDEST

        return run(arguments)
    program = sys.argv[0]
    if os.environ.get(STARTED):
        return _refuse(package)
    os.environ[STARTED] = "1"
    words = _other_python(package) or _by_uv(package) or _by_pip(package)
    if words:
        os.execv(words[0], [*words, program, *arguments])  # noqa: S606 - a program of the host
    return _refuse(package)


def is_enough(package: str) -> bool:
    """Whether this Python can run it."""
    if sys.version_info[:2] < OLDEST:
        return False
    return not package or importlib.util.find_spec(package) is not None


def _other_python(package: str) -> list[str]:
    """The words that start another Python that can run it; none: there is no such Python."""
    check = f"import sys; sys.exit(sys.version_info < {OLDEST!r})"
    if package:
        check = f"import {package}; {check}"
    found = filter(None, map(shutil.which, others()))
    return next(([python] for python in found if _call([python, "-c", check]) == 0), [])


def _by_uv(package: str) -> list[str]:
    uv = shutil.which("uv")
    if not uv:
        return []
    least = ".".join(map(str, OLDEST))
    words = [uv, "run", "--quiet", "--no-project", "--python", f">={least}"]
    words += [*(["--with", package] if package else []), "python"]
    print(f"uv brings {package or 'a newer Python'}", flush=True)  # noqa: T201 - a log
    return words if _call([*words, "-c", ""], seconds=_INSTALL_S) == 0 else []


def _by_pip(package: str) -> list[str]:
    """Install into a folder of its own, under a name that it gets when all is there."""
    if not package or sys.version_info[:2] < OLDEST:
        return []
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    tag = f"{package}-py{sys.version_info[0]}{sys.version_info[1]}"
    folder = cache / "trainway" / "packages" / tag
    if not folder.is_dir():
        print(f"pip installs {package} into {folder}", flush=True)  # noqa: T201 - a log
        partial = folder.with_name(f"{tag}.{os.getpid()}")
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(partial), package]
        if _call(pip, seconds=_INSTALL_S) != 0:
            shutil.rmtree(partial, ignore_errors=True)
            return []
        try:
            partial.rename(folder)
        except OSError:  # another one was faster
            shutil.rmtree(partial, ignore_errors=True)
    paths = [str(folder), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    return [sys.executable]


def _call(words: Sequence[str], seconds: float = 60) -> int:
    try:
        done = subprocess.run(  # noqa: S603 - a program of the host
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return FAILED
    return done.returncode


def _refuse(package: str) -> int:
    print(missing(package), flush=True)  # noqa: T201 - the log of the step
    return REFUSED
