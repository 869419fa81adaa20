"""Which files the catalog is made of, and the compiled form of them, which is made when needed.

`TRAINWAY_CATALOG` names a folder of `<cloud>.csv` or `<cloud>.csv.gz`. Without it, the files in
`catalog/` of Trainway's home count, and for clouds that have none there, a small list of our own.
A file is only ever read here; `refresh/` writes them, and never one that somebody has edited.
"""

import gzip
import hashlib
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Final

from trainway.catalog.csv_format import Row, rows
from trainway.catalog.store import FORMAT, Catalog, compile_catalog
from trainway.errors import UnavailableError, UnreadableError

VARIABLE: Final = "TRAINWAY_CATALOG"
_OWN: Final = "own_list.csv"
_SUFFIXES: Final = (".csv", ".csv.gz")


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Where compiled catalogs of a user are kept."""
    base = environment.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "trainway"


def catalog_files(folder: Path) -> dict[str, Path]:
    """The file of each cloud in a folder; one that is not packed comes first."""
    found: dict[str, Path] = {}
    for suffix in reversed(_SUFFIXES):
        for path in folder.glob(f"*{suffix}"):
            found[path.name.removesuffix(suffix).lower()] = path
    return dict(sorted(found.items()))


def open_catalog(home: Path, cache: Path, environment: Mapping[str, str]) -> Catalog:
    """The catalog that counts here, compiled if its files are not what they were."""
    named = environment.get(VARIABLE)
    is_whole = bool(named)
    files = _named_files(Path(named).expanduser()) if named else catalog_files(home / "catalog")
    own = resources.files("trainway.catalog").joinpath(_OWN)
    compiled = cache / f"catalog-{FORMAT}-{_fingerprint(files, is_whole=is_whole)}.sqlite"
    known = _known(compiled)
    if known is not None:
        return known
    clouds: dict[str, Iterable[Row]] = {} if is_whole else _own_rows(own.read_text("utf-8"))
    clouds |= {cloud: read_file(path) for cloud, path in files.items()}
    try:
        compile_catalog(compiled, clouds)
    except (OSError, sqlite3.Error) as error:
        raise UnavailableError(
            f"the catalog cannot be compiled into {cache}: {error}",
            hint="Free some space there, or set XDG_CACHE_HOME to another folder.",
        ) from error
    _forget_older(compiled)
    return Catalog(compiled)


def known_rows(home: Path, cloud: str) -> list[Row]:
    """The offers of one cloud as they are without `TRAINWAY_CATALOG`: its file, or our own list."""
    path = catalog_files(home / "catalog").get(cloud)
    if path is not None:
        return list(read_file(path))
    own = resources.files("trainway.catalog").joinpath(_OWN).read_text("utf-8")
    return list(_own_rows(own).get(cloud, ()))


def _known(compiled: Path) -> Catalog | None:
    """What was compiled before; None: nothing, or nothing that can be read."""
    if not compiled.exists():
        return None
    try:
        catalog = Catalog(compiled)
        catalog.clouds()
    except sqlite3.Error:
        return None
    return catalog


def _named_files(folder: Path) -> dict[str, Path]:
    files = catalog_files(folder) if folder.is_dir() else {}
    if not files:
        problem = "has no file NAME.csv or NAME.csv.gz" if folder.is_dir() else "is not a folder"
        raise UnreadableError(
            f"{VARIABLE}: {folder} {problem}",
            hint="Name a folder with one file for each cloud, such as aws.csv.",
        )
    return files


def _own_rows(text: str) -> dict[str, Iterable[Row]]:
    """Our own list has all clouds in one file, told apart by its first column."""
    header, *lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    clouds: dict[str, list[str]] = {}
    for line in lines:
        cloud, _, rest = line.partition(",")
        clouds.setdefault(cloud, [header.partition(",")[2]]).append(rest)
    return {cloud: rows(found, _OWN) for cloud, found in clouds.items()}


def read_file(path: Path) -> Iterator[Row]:
    """The lines of a file; UnreadableError says what is wrong with it."""
    opened = gzip.open if path.name.endswith(".gz") else open
    try:
        with opened(path, "rt", encoding="utf-8", newline="") as file:
            yield from rows(file, str(path))
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise UnreadableError(
            f"{path} cannot be read: {error}", hint="fetch the file again, or remove it"
        ) from error


def _fingerprint(files: Mapping[str, Path], *, is_whole: bool) -> str:
    """Another name, size or time of a file is another catalog."""
    hasher = hashlib.sha256(b"whole" if is_whole else b"beside our own")
    for cloud, path in files.items():
        if not path.is_file():
            raise UnreadableError(
                f"{path} is not a file, or is a link to nothing",
                hint="fetch the file again, or remove it",
            )
        known = path.stat()
        hasher.update(f"{cloud} {path.resolve()} {known.st_size} {known.st_mtime_ns}\n".encode())
    return hasher.hexdigest()[:20]


def _forget_older(compiled: Path) -> None:
    """Of compiled catalogs the four latest are kept."""
    found = sorted(compiled.parent.glob("catalog-*.sqlite"), key=os.path.getmtime, reverse=True)
    for path in found[4:]:
        path.unlink(missing_ok=True)
