"""Folders that volumes stand for: whether a place has them, asked before a job is sent there.

The same question is put to this machine and to others. What it prints begins with a mark, since a
host may greet us first, and names a folder by its number, since a path may have any letters.
"""

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

HERE: Final = "this machine"
_MARK: Final = "trainway-folder"
_QUESTION: Final = f"""\
number=0
while [ $# -gt 1 ]; do
  said=
  if [ ! -e "$1" ]; then said=missing
  elif [ ! -d "$1" ]; then said=other
  elif [ ! -r "$1" ] || [ ! -x "$1" ]; then said=closed
  elif [ "$2" = write ] && [ ! -w "$1" ]; then said=fixed
  fi
  if [ "$said" ]; then echo "{_MARK} $number $said"; fi
  number=$((number + 1)); shift 2
done
"""
_WORDS: Final = {
    "missing": "does not exist",
    "other": "is not a folder",
    "closed": "cannot be read",
    "fixed": "cannot be written",
}
_LIMIT_S: Final = 10


@dataclass(frozen=True)
class Folder:
    """A folder that is wanted."""

    path: str
    is_written: bool = False
    """Whether it must be one that can be written."""


Lack = tuple[Folder, str]
"""A folder, and what is wrong with it."""


@runtime_checkable
class LooksAtFolders(Protocol):
    """Runs jobs on machines whose folders they may have."""

    async def lacking(self, folders: Sequence[Folder]) -> list[str]:
        """What is wrong with which; none: nothing that anybody knows of.

        A machine that does not answer is no reason.
        """
        ...


def question(folders: Sequence[Folder]) -> list[str]:
    """The command that looks at them."""
    words = [word for each in folders for word in (each.path, "write" if each.is_written else "")]
    return ["sh", "-c", _QUESTION, "sh", *words]


def answered(folders: Sequence[Folder], printed: str) -> list[Lack]:
    """What the command has printed, whatever else stands there."""
    found = []
    for line in printed.splitlines():
        words = line.split()
        if len(words) == 3 and words[0] == _MARK and words[2] in _WORDS:
            number = int(words[1]) if words[1].isdecimal() else len(folders)
            found += [(each, _WORDS[words[2]]) for each in folders[number : number + 1]]
    return found


def said(lacks: Mapping[str, Iterable[Lack]]) -> list[str]:
    """One sentence for each fault, with the machines that have it."""
    told: dict[str, list[str]] = {}
    for machine, found in lacks.items():
        for folder, wrong in found:
            told.setdefault(f"{folder.path} {wrong}", []).append(machine)
    return [f"{fault} on {', '.join(machines)}" for fault, machines in told.items()]


def here(folders: Sequence[Folder]) -> list[str]:
    """What is wrong with them on this machine; it may take a while."""
    try:
        asked = subprocess.run(  # noqa: S603 - our own text
            question(folders), check=False, capture_output=True, timeout=_LIMIT_S
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return []  # the job itself will say it
    return said({HERE: answered(folders, asked.stdout.decode(errors="replace"))})
