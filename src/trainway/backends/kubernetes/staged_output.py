"""The output of a job as its pods had it: each sends its own, and together they are the job's.

What several pods have is taken from the one that wrote it last. What none of them has any more is
gone, since each began with all that there was. A server that is killed meanwhile begins again.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

_STAGES: Final = "leaving"
_UNFINISHED: Final = ".unfinished"
_OWN: Final = ".trainway"
"""What the server itself keeps there, such as the value of a function."""
_NEW: Final = "output.file"
"""A file that is about to become one of the output."""


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


def merge(directory: Path) -> None:
    """Make the output of the job what its pods have sent, file by file; it may be read meanwhile.

    Where none has sent any it stays as it is.
    """
    stages, output = directory / _STAGES, directory / "output"
    places = sorted(each for each in stages.glob("*") if each.is_dir())
    if not places:
        return
    folders, newest = _together(places)
    newest = {name: path for name, path in newest.items() if name.parts[0] != _OWN}
    output.mkdir(mode=0o700, exist_ok=True)
    for path in list(_below(output))[::-1]:
        name, is_folder = path.relative_to(output), path.is_dir() and not path.is_symlink()
        is_wanted = name in folders if is_folder else name in newest and name not in folders
        if name.parts[0] != _OWN and not is_wanted:
            path.rmdir() if is_folder else path.unlink()
    for folder in sorted(folders):
        (output / folder).mkdir(mode=0o700, exist_ok=True)
    for name, path in newest.items():
        if name not in folders and _differs(path, output / name):
            _replace(path, output / name, directory / _NEW)


def seed(directory: Path, place: str) -> None:
    """Let what is here already not come again from a pod that began with it."""
    output, target = directory / "output", stage(directory, place)
    for path in _below(output):
        name = path.relative_to(output)
        if name.parts[0] == _OWN or path.is_symlink() or os.path.lexists(target / name):
            continue
        with suppress(OSError):  # where a folder was, there may be a file
            if path.is_dir():
                (target / name).mkdir(mode=0o700, parents=True, exist_ok=True)
            else:
                (target / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                os.link(path, target / name)


def discard(directory: Path) -> None:
    """Forget what pods have sent of a job that stays where it is."""
    shutil.rmtree(directory / _STAGES, ignore_errors=True)


def _together(places: list[Path]) -> tuple[set[Path], dict[Path, Path]]:
    """The folders that some place has, and of each file the one that was written last."""
    folders: set[Path] = set()
    newest: dict[Path, Path] = {}
    for place in places:
        for path in _below(place):
            name = path.relative_to(place)
            if path.is_dir() and not path.is_symlink():
                folders.add(name)
            elif name not in newest or _changed(path) > _changed(newest[name]):
                newest[name] = path
    return folders, newest


def _differs(path: Path, target: Path) -> bool:
    """Whether a file is not what the other one is."""
    if not os.path.lexists(target) or path.is_symlink() or target.is_symlink():
        return True
    one, other = path.stat(), target.stat()
    return (one.st_size, one.st_mtime_ns) != (other.st_size, other.st_mtime_ns)


def _replace(path: Path, target: Path, new: Path) -> None:
    """Put a file in the place of another one at once."""
    new.unlink(missing_ok=True)
    _put(path, new)
    new.replace(target)


def _build(new: Path, places: list[Path], before: Path) -> None:
    folders, newest = _together(places)
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
