"""Whether the files of this machine that a task names are there, before it is submitted."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from trainway.data.uri import meant
from trainway.errors import InvalidError
from trainway.sdk.address import configured_address


def refuse_missing(
    workdir: str | None, mounts: Iterable[tuple[str, str]], prefix: str = ""
) -> None:
    """Raise with all that is missing; `mounts` are where a file goes, and which one it is.

    Of a server on another machine nobody here knows what it has.
    """
    address = configured_address()
    if address is not None and not address.is_here:
        return
    problems = [f"{prefix}{line}" for line in _missing(workdir, mounts)]
    if problems:
        raise InvalidError(problems)


def _missing(workdir: str | None, mounts: Iterable[tuple[str, str]]) -> Iterator[str]:
    if workdir:
        folder = _place(workdir)
        if not folder.exists():
            yield f"workdir: there is no folder {workdir} ({folder})"
        elif not folder.is_dir():
            yield f"workdir: {workdir} is a file, not a folder"
    for target, source in mounts:
        if not _place(source).exists():
            said = f"file_mounts[{target}]: there is no file or folder {source} ({_place(source)})"
            uri = meant(source)
            yield f"{said}; did you mean {uri}?" if uri else said


def _place(path: str) -> Path:
    """Where a path leads: relative ones begin where the command is run."""
    return Path.cwd() / Path(path).expanduser()
