"""The output of a job as its pods had it: each sends its own, and together they are the job's.

What several pods have is taken from the one that wrote it last. What none of them has any more is
gone, since each began with all that there was. A server that is killed meanwhile begins again.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_STAGES: Final = "leaving"
_UNFINISHED: Final = ".unfinished"
_OWN: Final = ".trainway"
"""What the server itself keeps there, such as the value of a function."""


def stage(directory: Path, place: str) -> Path:
    """Where the output of a pod goes first, by the pod's place in its job."""
    return directory / _STAGES / place


def unfinished_mark(directory: Path, place: str) -> Path:
    """The file that is there until a pod has sent what it wrote last."""
    return directory / _STAGES / f"{place}{_UNFINISHED}"


def make_mark(mark: Path) -> None:
    """Note that a pod will have more to send."""
    mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    mark.touch()


def unfinished(directory: Path) -> list[str]:
    """The places of the pods that have not sent what they wrote last."""
    marks = sorted((directory / _STAGES).glob(f"*{_UNFINISHED}"))
    return [mark.name.removesuffix(_UNFINISHED) for mark in marks]


def gather(directory: Path) -> None:
    """Make what the pods have sent the output of the job; nothing where none has sent any."""
    stages, output = directory / _STAGES, directory / "output"
    places = sorted(each for each in stages.glob("*") if each.is_dir())
    if not places:
        return
    new, old = directory / "output.new", directory / "output.old"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(mode=0o700)
    _build(new, places, output if output.is_dir() else old)
    if output.is_dir():
        shutil.rmtree(old, ignore_errors=True)
        output.rename(old)
    new.rename(output)
    shutil.rmtree(old, ignore_errors=True)
    shutil.rmtree(stages)


def discard(directory: Path) -> None:
    """Forget what pods have sent of a job that stays where it is."""
    shutil.rmtree(directory / _STAGES, ignore_errors=True)


def _build(new: Path, places: list[Path], before: Path) -> None:
    folders: set[Path] = set()
    newest: dict[Path, Path] = {}
    for place in places:
        for path in _below(place):
            name = path.relative_to(place)
            if path.is_dir() and not path.is_symlink():
                folders.add(name)
            elif name not in newest or _changed(path) > _changed(newest[name]):
                newest[name] = path
    for path in _below(before / _OWN):
        name = path.relative_to(before)
        if path.is_file() and not path.is_symlink() and name not in newest:
            newest[name] = path
            folders.update(name.parents)
    for folder in sorted(folders):
        (new / folder).mkdir(mode=0o700, exist_ok=True)
    for name, path in newest.items():
        if name not in folders:
            _put(path, new / name)


def _below(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        yield path
        if path.is_dir() and not path.is_symlink():
            yield from _below(path)


def _changed(path: Path) -> int:
    return path.lstat().st_mtime_ns


def _put(path: Path, target: Path) -> None:
    if path.is_symlink():
        target.symlink_to(path.readlink())
        return
    try:
        os.link(path, target)
    except OSError:
        shutil.copy2(path, target)
