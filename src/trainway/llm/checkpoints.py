"""Which checkpoint a training goes on from: the newest that is complete for every process.

A process can be killed while it writes, so a folder counts only with a mark that is written after
all processes have written theirs. Nodes need not share a disk: the newest that all of them have is
taken.
"""

import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

FOLDER: Final = "checkpoints"
_MARK: Final = "trainway-complete.json"
_COLLECTED: Final = ("pytorch_model_fsdp.bin", "optimizer.bin")
_NAME: Final = re.compile(r"checkpoint-(\d+)")


def mark_complete(checkpoint: Path, processes: int) -> None:
    """Say that a checkpoint has all its files."""
    written = checkpoint / f"{_MARK}.{os.getpid()}"
    with written.open("w", encoding="utf-8") as file:
        json.dump({"processes": processes}, file)
        file.flush()
        os.fsync(file.fileno())
    written.replace(checkpoint / _MARK)


def stand_in(checkpoint: Path) -> None:
    """Have files under the names of those that the first process alone writes and reads.

    Of weights that are spread it collects and hands out all. A node that shares no disk with it has
    none of its files, and transformers would take that for a checkpoint without weights there, and
    would not take part in handing them out.
    """
    for name in _COLLECTED:
        file = checkpoint / name
        if not file.exists():
            file.touch()


def complete_steps(folder: Path, processes: int) -> list[int]:
    """The steps whose checkpoints are complete, and made by as many processes."""
    found = []
    for each in folder.iterdir() if folder.is_dir() else ():
        name = _NAME.fullmatch(each.name)
        if name and _processes(each) == processes:
            found.append(int(name[1]))
    return sorted(found)


def latest_common(steps: Sequence[Iterable[int]]) -> int | None:
    """The newest step that everybody has."""
    common = set.intersection(*(set(each) for each in steps)) if steps else set()
    return max(common, default=None)


def path_of(folder: Path, step: int) -> Path:
    """The checkpoint of a step."""
    return folder / f"checkpoint-{step}"


def others(folder: Path, processes: int) -> list[int]:
    """Steps of checkpoints that cannot be used, because they are of other processes or broken."""
    whole = set(complete_steps(folder, processes))
    names = (_NAME.fullmatch(each.name) for each in folder.iterdir()) if folder.is_dir() else ()
    return sorted(int(name[1]) for name in names if name and int(name[1]) not in whole)


def superfluous(folder: Path, kept: int | None) -> list[Path]:
    """What is to go when all is done; while it trains, there are two at least."""
    if kept is None:
        return [folder]
    names = (_NAME.fullmatch(each.name) for each in folder.iterdir()) if folder.is_dir() else ()
    steps = sorted(int(name[1]) for name in names if name)
    return [path_of(folder, step) for step in steps[:-kept]]


def _processes(checkpoint: Path) -> int | None:
    try:
        said = json.loads((checkpoint / _MARK).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return said.get("processes") if isinstance(said, dict) else None
