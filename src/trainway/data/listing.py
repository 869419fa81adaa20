"""What is in a folder, level by level, from a source that tells all files below it."""

from collections.abc import Iterable
from dataclasses import dataclass

from trainway.data.selection import Selected


@dataclass(frozen=True)
class Row:
    """A file, or a folder with what is below it."""

    name: str
    size: int
    files: int
    modified: float | None
    etag: str = ""

    @property
    def is_folder(self) -> bool:
        """Whether it is one."""
        return self.name.endswith("/")


def rows(files: Iterable[Selected], *, is_recursive: bool) -> list[Row]:
    """The files by name; those of a folder as one row, unless all are asked for."""
    found: dict[str, Row] = {}
    for each in files:
        first, slash, _ = each.name.partition("/")
        entry = each.entry
        if is_recursive or not slash:
            found[each.name] = Row(each.name, entry.size, 1, entry.modified, entry.etag)
        else:
            found[f"{first}/"] = _added(found.get(f"{first}/"), f"{first}/", each)
    return [found[name] for name in sorted(found)]


def _added(row: Row | None, name: str, selected: Selected) -> Row:
    entry = selected.entry
    if row is None:
        return Row(name, entry.size, 1, entry.modified)
    times = [time for time in (row.modified, entry.modified) if time is not None]
    return Row(name, row.size + entry.size, row.files + 1, max(times, default=None))
