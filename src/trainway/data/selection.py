"""The files that a URI means, with the names they have below it.

A URI means one file if there is one of that key, and else the folder of that name: `s3://b/data` is
never `s3://b/database`. Names come from strangers, so those that lead out of the folder into which
they are copied are refused before anything is written.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trainway.data.journal import journal_path, partial_path
from trainway.data.patterns import Patterns
from trainway.data.store import Entry, Source
from trainway.data.uri import Location
from trainway.errors import InvalidError, NotFoundError


@dataclass(frozen=True)
class Selected:
    """A file, and its name below what was asked for."""

    name: str
    entry: Entry


@dataclass(frozen=True)
class Selection:
    """What a URI means."""

    files: tuple[Selected, ...]
    is_file: bool
    """Whether it means one file, and no folder."""

    @property
    def size(self) -> int:
        """The bytes of all files together."""
        return sum(each.entry.size for each in self.files)


def select(source: Source, location: Location, patterns: Patterns | None = None) -> Selection:
    """Find the files; that there is nothing at all is an error, that no pattern matches is none."""
    if not location.is_folder:
        entry = source.stat(location.key)
        if entry is not None:
            return Selection((Selected(location.name, entry),), is_file=True)
    patterns, files, is_there = patterns or Patterns(), [], False
    for name, entry in below(source, location.key):
        is_there = True
        if patterns.match(name):
            files.append(Selected(name, entry))
    if not is_there and not location.key:
        raise NotFoundError(f"{location} is empty")
    if not is_there:
        raise NotFoundError(
            f"there is nothing at {location}",
            hint=_hint(location),
        )
    return Selection(tuple(files), is_file=False)


def _hint(location: Location) -> str:
    """What to do about a name that nothing has."""
    if "*" in location.name:
        return f"name the folder, and write --include '{location.name}'"
    return "list what there is in the folder above: trainway data ls URI"


def below(source: Source, folder: str) -> Iterator[tuple[str, Entry]]:
    """The files below a folder, by their names in it; what only marks a folder is left out."""
    prefix = f"{folder}/" if folder else ""
    for entry in source.list(folder):
        if entry.key.startswith(prefix) and not entry.key.endswith("/"):
            yield entry.key.removeprefix(prefix), entry


def check_names(files: tuple[Selected, ...]) -> None:
    """Refuse names that cannot be files of one folder."""
    names = {each.name for each in files}
    wrong = [f"{name!r} leads out of the folder" for name in names if leads_out(name)]
    wrong += [f"{name!r} is a file and a folder" for name in _folders(names) & names]
    wrong += [f"{name!r} is needed to copy another file" for name in _traces(names) & names]
    if wrong:
        raise InvalidError(
            sorted(wrong)[:5], hint="leave such files out with --ignore, or give them other names"
        )


def leads_out(name: str) -> bool:
    """Whether a name is none of a file below a folder."""
    return "\0" in name or any(word in {"", ".", ".."} for word in name.split("/"))


def _traces(names: set[str]) -> set[str]:
    """What stands beside files while they are copied."""
    paths = [Path(name) for name in names if name]
    return {str(trace(path)) for path in paths for trace in (partial_path, journal_path)}


def _folders(names: set[str]) -> set[str]:
    return {name[:index] for name in names for index, letter in enumerate(name) if letter == "/"}
