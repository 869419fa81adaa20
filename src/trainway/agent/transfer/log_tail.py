"""The log files of one job, read as they grow."""

from __future__ import annotations

import binascii
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trainway.agent.base.directory import Directory
    from trainway.agent.transfer.host_events import LogPiece


FOLDER = "logs"
PIECE = 192 * 1024
"""How many bytes one frame has: Base64 makes 256 KiB of it."""


class LogTail:
    """Hands out what a receiver does not have, in whole lines as long as the file may grow."""

    def __init__(self, directory: Directory, offsets: Mapping[str, int]) -> None:
        self._directory = directory
        self._offsets = dict(offsets)
        self._complete: set[str] = set()
        """The files that nobody writes to, as far as is known: their last line may be sent as it
        is."""
        self._grown: dict[str, None] = dict.fromkeys(sorted(os.listdir(directory.join(FOLDER))))

    def touched(self, file: str) -> None:
        """Something was written to a file."""
        self._grown[file] = None

    def lag(self, files: Iterable[str]) -> dict[str, int]:
        """The sizes of those files that the receiver does not have all of."""
        sizes = {file: self._size(file) for file in files}
        behind = {file: size for file, size in sizes.items() if size > self.offset(file)}
        for file in behind:
            self._complete.add(file)
            self.touched(file)
        return behind

    def offset(self, file: str) -> int:
        """How much of a file was handed out."""
        return self._offsets.get(file, 0)

    def _size(self, file: str) -> int:
        try:
            path = f"{FOLDER}/{file}"
            return os.stat(path, dir_fd=self._directory.fd, follow_symlinks=False).st_size
        except OSError:
            return 0

    def next(self) -> LogPiece | None:
        """The next piece; files take turns."""
        while self._grown:
            file = next(iter(self._grown))
            del self._grown[file]
            offset = self.offset(file)
            data = self._read(file, offset)
            if not data:
                continue
            self._offsets[file] = offset + len(data)
            self._grown[file] = None
            text = binascii.b2a_base64(data, newline=False).decode()
            return {"event": "log", "file": file, "offset": offset, "data": text}
        return None

    def _read(self, file: str, offset: int) -> bytes:
        try:
            fd = self._directory.open_regular(f"{FOLDER}/{file}", os.O_RDONLY)
        except OSError:
            return b""
        try:
            data = os.pread(fd, PIECE, offset)
        finally:
            os.close(fd)
        whole = data.rfind(b"\n") + 1
        if not whole and len(data) < PIECE and file not in self._complete:
            return b""
        return data[:whole] if whole else data
