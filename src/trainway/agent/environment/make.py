"""Makes the environment of a job on this host, or waits for whoever makes it: a program.

It is the first container of each pod of a job with packages. What comes of it is in a file for the
agent: the name of the environment, or why there is none.
"""

from __future__ import annotations

import json
import os
import time

from trainway.agent.environment import base_python
from trainway.agent.environment.failure import (
    NO_ROOM,
    EnvironmentFailedError,
    full_disk,
    os_complaint,
)
from trainway.agent.environment.installer import UV_VARIABLE, Installer, find_uv
from trainway.agent.environment.overlay import add_programs, lay_over
from trainway.agent.environment.requirements import Requirements, key_of
from trainway.agent.environment.shelf import Shelf, folder_of
from trainway.agent.environment.uv_bringing import NotBroughtError, bring

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainway.agent.environment.base_python import BasePython
    from trainway.json_types import Json

SIZE_VARIABLE = "TRAINWAY_ENVIRONMENTS_SIZE"
DEFAULT_SIZE = 100 * 10**9
UNUSED_DAYS = 30.0
_UNITS = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def run(requirements: str, result: str, environ: Mapping[str, str]) -> int:
    """Make it for the file with the requirements, and write down what came of it."""
    try:
        with open(requirements, encoding="utf-8") as file:
            told: Json = made(Requirements(file.read()), requirements, environ)
    except EnvironmentFailedError as error:
        is_full = NO_ROOM in str(error)
        told = {"failure": full_disk(folder_of(environ)) if is_full else str(error)}
    except OSError as error:
        told = {"failure": os_complaint(error, folder_of(environ))}
    with open(f"{result}.new", "w", encoding="utf-8") as file:
        json.dump(told, file)
    os.replace(f"{result}.new", result)
    print(told.get("failure") or told["message"], flush=True)  # noqa: T201 - the job's log
    return 1 if "failure" in told else 0


def made(requirements: Requirements, file: str, environ: Mapping[str, str]) -> Json:
    """The environment, as the agent is told of it."""
    limit = size_limit(environ)
    python = base_python.find(requirements, environ)
    if python.has_all:
        message = f"{requirements.summary()}: installed already, with Python {python.full}"
        return {"key": "", "message": message}
    shelf = Shelf(folder_of(environ))
    shelf.prepare()
    files = {path: _version(path) for path in requirements.paths}
    key = key_of(requirements, python.identity, environ, files)
    told: Json = {"key": key, "folder": shelf.folder}
    if shelf.facts(key) is not None:
        return {**told, "message": f"the environment {key} is there already"}
    print(f"making the environment: {requirements.summary()}", flush=True)  # noqa: T201
    with shelf.making(key) as lock:
        if lock is None:
            return {**told, "message": f"the environment {key} was made meanwhile"}
        started = time.monotonic()
        tool = _make(shelf, key, requirements, file, python, environ, lock)
        took = time.monotonic() - started
    shelf.prune(limit, UNUSED_DAYS)
    return {**told, "message": f"made the environment {key} with {tool} in {took:.1f} s"}


def _make(
    shelf: Shelf,
    key: str,
    requirements: Requirements,
    file: str,
    python: BasePython,
    environ: Mapping[str, str],
    lock: int,
) -> str:
    """Make it, alone; which tool did."""
    shelf.remove(key)  # what somebody left who was killed
    path = shelf.path(key)
    uv, absence = find_uv(python, environ), None
    if uv is None and UV_VARIABLE not in environ:
        try:
            uv = bring(shelf, requirements, environ)
        except NotBroughtError as error:
            absence = error
            print(f"pip is used, since uv cannot be brought: {error}", flush=True)  # noqa: T201
    installer = Installer(python, environ, lock, uv, absence)
    try:
        installer.create(path)
        lay_over(path, python)
        installer.install(path, file)
        add_programs(path, environ)
        facts = {"packages": requirements.packages, "python": python.full, "tool": installer.name}
        shelf.finish(key, facts)
    except BaseException:
        shelf.remove(key)
        raise
    return installer.name


def size_limit(environ: Mapping[str, str]) -> int:
    """How many bytes all environments may have together; beyond it the oldest go."""
    given = (environ.get(SIZE_VARIABLE) or "").strip()
    if not given:
        return DEFAULT_SIZE
    text = given.rstrip("Bb")
    unit = _UNITS.get(text[-1:].upper() if text[-1:] != "k" else "k", 1)
    try:
        size = int(float(text[:-1] if unit > 1 else text) * unit)
    except (ValueError, OverflowError):
        size = -1
    if size < 0:
        raise EnvironmentFailedError(
            f"{SIZE_VARIABLE}: {given!r} is not a size; write 500MB, 50GB or 1TB"
        )
    return size


def _version(path: str) -> str:
    """What tells a file from the one that was there before under its name."""
    try:
        found = os.stat(path)
    except OSError:
        return ""
    return f"{found.st_size}-{found.st_mtime_ns}"
