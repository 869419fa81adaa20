"""What a user should know before a job runs where this machine's files are not."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from trainway.counting import counted
from trainway.jobset.labels import JOB_FILES
from trainway.json_types import Json
from trainway.sdk.manifests import JOB_KINDS

OURS = "trainway_"
"""Names of files that begin like this are ours, and of no interest."""


def travelling(objects: Sequence[Json], *, to_hosts: bool = False) -> str:
    """What of this machine the job has with it; empty where it is nothing."""
    maps = [
        obj for obj in objects if JOB_FILES in ((obj.get("metadata") or {}).get("labels") or {})
    ]
    files = [item for obj in maps for item in (*obj.get("data", ()), *obj.get("binaryData", ()))]
    files = [name for name in files if not name.startswith(OURS)]
    if not files:
        return ""
    first, modules = files[0], len(files) - 1
    others = f" and {counted(modules, 'module')} beside it travel" if modules else " travels"
    where = "hosts" if to_hosts else "pods"
    return f"{first}{others} to the {where}; nothing else of this folder does"


def staying(
    objects: Sequence[Json],
    exists: Callable[[str], bool] = lambda path: Path(path).exists(),
    *,
    to_hosts: bool = False,
) -> str:
    """Which files of this machine the job names but does not have with it."""
    jobs = [obj for obj in objects if obj.get("kind") in JOB_KINDS]
    names = list(dict.fromkeys(path for job in jobs for path in _named_here(job, exists)))
    if not names:
        return ""
    are = "are here and do" if len(names) > 1 else "is here and does"
    lack = "hosts: they must" if to_hosts else "pods: the image must"
    return f"{', '.join(names)} {are} not travel to the {lack} provide them"


def _named_here(job: Json, exists: Callable[[str], bool]) -> Iterator[str]:
    """Relative paths among the words of a job's commands that are files of this machine."""
    for word in _words(job):
        path = word.partition("=")[2] if word.startswith("-") and "=" in word else word
        looks_like_one = "/" in path or "." in path.strip(".")
        if looks_like_one and not path.startswith("/") and len(path) < 1000 and "\n" not in path:
            try:
                found = exists(path)
            except (OSError, ValueError):
                continue
            if found:
                yield path


def _words(value: Any) -> Iterator[str]:
    """All words of all commands, wherever they stand in an object."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in ("command", "args") and isinstance(inner, list):
                yield from (word for word in inner if isinstance(word, str))
            else:
                yield from _words(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _words(inner)
