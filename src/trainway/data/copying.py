"""From anywhere to anywhere: what `trainway data copy` does, and what jobs do before they start.

A file goes to the name that the target says, or under its own name into a folder; what is below a
folder goes below the target.
"""

from pathlib import Path

from trainway.data.cache import Cache
from trainway.data.cached_copy import bring
from trainway.data.journal import is_trace
from trainway.data.opening import local_path, locate, open_source, open_target
from trainway.data.patterns import Patterns
from trainway.data.selection import Selected, Selection, check_names, select
from trainway.data.store import Source
from trainway.data.transfer import Options, Outcome, Wanted, fetch
from trainway.data.uri import FILE, Location
from trainway.errors import UsageError


def copy(
    source: str,
    target: str,
    patterns: Patterns | None = None,
    options: Options | None = None,
    cache: Cache | None = None,
) -> Outcome:
    """Copy a file, or all that is below a folder; here through a cache, if there is one."""
    start, end = locate(source), locate(target)
    if (start.scheme, start.bucket, start.key) == (end.scheme, end.bucket, end.key):
        raise UsageError(f"{start} and the target are the same")
    opened = open_source(start)
    into = None if end.scheme == FILE else open_target(end)
    found = select(opened, start, patterns)
    if start.scheme == FILE:
        kept = tuple(each for each in found.files if not is_trace(each.name))
        found = Selection(kept, found.is_file)
    check_names(found.files)
    if into is None:
        wanted = _wanted(opened, start, found, end)
        if cache is not None and start.scheme != FILE:
            return bring(cache, wanted, options)
        return fetch(wanted, options)
    from trainway.data.upload import Sent, send  # noqa: PLC0415 - only to send

    sent = [Sent(each.entry, _key(each, found, end)) for each in found.files]
    return send(opened, into, sent, options)


def _wanted(source: Source, start: Location, found: Selection, end: Location) -> list[Wanted]:
    folder = local_path(end)
    if found.is_file:
        (one,) = found.files
        is_folder = end.is_folder or folder.is_dir()
        return [_one(source, start, one, folder / one.name if is_folder else folder)]
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file, and {start} is a folder")
    return [_one(source, start, each, folder / each.name) for each in found.files]


def _one(source: Source, start: Location, selected: Selected, target: Path) -> Wanted:
    return Wanted(source, selected.entry, str(start.of(selected.entry.key)), target)


def _key(selected: Selected, found: Selection, end: Location) -> str:
    if found.is_file and not end.is_folder:
        return end.key
    return f"{end.key}/{selected.name}" if end.key else selected.name
