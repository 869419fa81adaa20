"""The files that `make dashboard` built: found by name, read once, and kept as long as told.

Names with a digest in them never change, so browsers keep them. Every other address below
/dashboard/ is a place in the page, which is `index.html` for all of them. A file that was
compressed when it was built has its name with `.gz` behind it.
"""

import gzip
import hashlib
import mimetypes
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).resolve().parent.parent / "dashboard"
INDEX: Final = "index.html"
ASSETS: Final = "assets/"
"""What the names of files begin with that have a digest in them."""
_GZ: Final = ".gz"
_KEPT: Final = "private, max-age=31536000, immutable"
_ASKED: Final = "no-cache"
_TEXT: Final = ("text/", "application/json", "image/svg", "application/manifest")
_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
"""Not left to the machine, whose tables differ."""


@dataclass(frozen=True)
class WebFile:
    """A file, as it goes to a browser."""

    content: bytes
    media_type: str
    cache: str
    encoding: str = ""
    tag: str = field(init=False)
    """What a browser knows the same content by."""

    def __post_init__(self) -> None:
        digest = hashlib.sha256(self.content).hexdigest()
        object.__setattr__(self, "tag", f'"{digest[:32]}"')


class DashboardFiles:
    """The files of a folder, and no others."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._version = 0
        self._names: dict[str, Path] = {}
        self._read: dict[tuple[Path, bool], WebFile] = {}

    def find(self, name: str, *, gzipped: bool = False) -> WebFile | None:
        """The file of that name, or the page itself; None: there is no such file."""
        self._look_again()
        path = self._names.get(name)
        if path is None and not name.startswith(ASSETS):
            path = self._names.get(INDEX)
        if path is None:
            return None
        found = self._read.get((path, gzipped))
        if found is None:
            try:
                found = _read(path, is_kept=name.startswith(ASSETS), gzipped=gzipped)
            except OSError:  # built anew just now
                return None
            self._read[path, gzipped] = found
        return found

    @property
    def is_built(self) -> bool:
        """Whether there is a dashboard."""
        self._look_again()
        return INDEX in self._names

    def _look_again(self) -> None:
        """List the files anew where another `index.html` stands now, which is written last."""
        try:
            version = (self._folder / INDEX).stat().st_mtime_ns
        except OSError:
            self._version, self._names, self._read = 0, {}, {}
            return
        if version != self._version:
            self._version, self._names, self._read = version, _files(self._folder), {}


def _files(folder: Path) -> dict[str, Path]:
    return {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink() and path.suffix != _GZ
    }


def _read(path: Path, *, is_kept: bool, gzipped: bool) -> WebFile:
    """A file as it goes to a browser that wants it so; the build has compressed most of them."""
    content, media_type, cache = path.read_bytes(), _media_type(path), _KEPT if is_kept else _ASKED
    if not (gzipped and media_type.startswith(_TEXT)):
        return WebFile(content, media_type, cache)
    try:
        content = path.with_name(f"{path.name}{_GZ}").read_bytes()
    except OSError:
        content = gzip.compress(content, mtime=0)
    return WebFile(content, media_type, cache, "gzip")


def _media_type(path: Path) -> str:
    known = _TYPES.get(path.suffix)
    return known or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
