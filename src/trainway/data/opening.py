"""Who reads or writes what a URI names; what is needed for it is imported here and not before."""

from pathlib import Path

from trainway.data.local_files import LocalFiles
from trainway.data.store import Source, Target
from trainway.data.uri import FILE, HUB, OBJECT_STORES, WEB, Location, has_scheme, parse
from trainway.errors import UsageError


def locate(word: str) -> Location:
    """What a URI, or a path of this machine, names."""
    if has_scheme(word):
        return parse(word)
    if not word:
        raise UsageError("a path must not be empty")
    if "\0" in word:
        raise UsageError("a path must not have control characters")
    try:
        path = Path(word).expanduser()
    except RuntimeError:
        raise UsageError(
            f"{word}: there is no such user on this machine",
            hint=f"a folder of that name: ./{word}",
        ) from None
    try:
        whole = path.parent.resolve() / path.name if path.name not in {"", ".."} else path.resolve()
    except (OSError, RuntimeError):  # a Python older than 3.13 says the latter
        raise UsageError(f"{word}: a link on the way leads back to itself") from None
    key = str(whole)
    return Location(FILE, "", key[1:], is_folder=word.endswith("/"))


def local_path(location: Location) -> Path:
    """The path of a file of this machine."""
    return Path("/", location.key)


def open_source(location: Location) -> Source:
    """Where to read what a location names."""
    if location.scheme == FILE:
        return LocalFiles()
    if location.scheme == HUB:
        from trainway.data.hub import Hub  # noqa: PLC0415 - others need no HTTP

        return Hub(location)
    if location.scheme == WEB:
        from trainway.data.web import WebFiles  # noqa: PLC0415 - others need no HTTP

        return WebFiles(location)
    return _object_store(location)


def open_target(location: Location) -> Target:
    """Where to write, or to remove, what a location names."""
    if location.scheme == FILE:
        raise UsageError(f"{location} is on this machine", hint="rm and mv do that")
    if location.scheme not in OBJECT_STORES:
        known = ", ".join(f"{scheme}://" for scheme in OBJECT_STORES)
        raise UsageError(
            f"{location.scheme}:// can only be read",
            hint=f"written are {known} and files of this machine",
        )
    return _object_store(location)


def _object_store(location: Location) -> Target:
    from trainway.data.object_store import ObjectStore  # noqa: PLC0415 - what it needs is an extra

    return ObjectStore(location)
