"""Local files of a job that go to the server ahead of it, by content, each only once.

A ConfigMap that is to be submitted may stand for a file of this machine:

    {"$local": "/home/me/model.bin", "size": 300000000}

It is sent unless the server has one of that content, and then stands for that:

    {"$file": "<SHA-256>", "size": 300000000}

No file is held in memory as a whole.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any, Final

from trainway.errors import UnavailableError, UnreadableError
from trainway.json_types import Json
from trainway.sdk.transport import Transport

Progress = Callable[[int, int], None]
"""A function that is told how many bytes are sent, and of how many."""

LOCAL: Final = "$local"
FILE: Final = "$file"
_PIECE: Final = 1 << 20
_ATTEMPTS: Final = 3
"""How often a file is sent; what came as a whole stays with the server, so the next attempt is
about the rest."""


def local_file(path: Path, size: int) -> Json:
    """What stands for a file of this machine in a ConfigMap."""
    return {LOCAL: str(path), "size": size}


def with_digests(objects: Sequence[Json]) -> tuple[list[Json], dict[str, Json]]:
    """The objects as the server takes them, and the files that they now stand for, by digest."""
    files: dict[str, Json] = {}

    def value(given: Any) -> Any:
        if not isinstance(given, dict) or LOCAL not in given:
            return given
        name = _digest(Path(given[LOCAL]))
        files[name] = given
        return {FILE: name, "size": given["size"]}

    changed = [
        {**obj, "binaryData": {key: value(given) for key, given in obj["binaryData"].items()}}
        if obj.get("kind") == "ConfigMap" and obj.get("binaryData")
        else obj
        for obj in objects
    ]
    return changed, files


def send(transport: Transport, files: Mapping[str, Json], progress: Progress) -> None:
    """Send those that the server does not have."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            names = transport.request("POST", "/files/missing", body={"files": list(files)})
            missing = {name: files[name] for name in names["missing"]}
            if missing:
                body = _Body(missing, progress)
                transport.upload("/files", body.pieces(), body.length)
        except UnavailableError:
            if attempt == _ATTEMPTS:
                raise
        else:
            return


class _Body:
    """What is sent: for each file a line with its digest and size, then its bytes."""

    def __init__(self, files: Mapping[str, Json], progress: Progress) -> None:
        self._files = files
        self._progress = progress
        self._size = sum(int(file["size"]) for file in files.values())
        self._sent = 0
        self.length = self._size + sum(len(_line(name, file)) for name, file in files.items())

    def pieces(self) -> Iterator[bytes]:
        """The body; UnreadableError where a file is not what it was."""
        self._progress(0, self._size)
        for name, file in self._files.items():
            yield _line(name, file)
            with _opened(Path(file[LOCAL])) as content:
                yield from self._content(content, file)

    def _content(self, content: BufferedReader, file: Json) -> Iterator[bytes]:
        left = int(file["size"])
        while left:
            piece = content.read(min(_PIECE, left))
            if not piece:
                raise UnreadableError(f"{file[LOCAL]}: it changed while it was sent")
            left -= len(piece)
            yield piece
            self._sent += len(piece)
            self._progress(self._sent, self._size)


def _line(name: str, file: Json) -> bytes:
    return f"{name} {file['size']}\n".encode()


def _digest(path: Path) -> str:
    with _opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _opened(path: Path) -> BufferedReader:
    try:
        return path.open("rb")
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}") from None
