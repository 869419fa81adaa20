"""What a job leaves in its output directory, on its way to the user's machine.

A file is sent when it has not changed for a second, and at the end of a pod whatever state it is
in. One that changes while it is sent is given up and sent anew later; the receiver keeps a file
only when the last piece of it is there.
"""

from __future__ import annotations

import binascii
import os
import stat

from trainway.agent.transfer.restored import PART

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trainway.agent.base.directory import Directory
    from trainway.agent.transfer.host_events import OutputPiece

    Version = tuple[int, int]

FOLDER = "output"
PIECE = 192 * 1024
"""How many bytes one frame has: Base64 makes 256 KiB of it."""
STABLE_SECONDS = 1.0


class OutputFile:
    """A file or a link as it was when it was looked at."""

    def __init__(self, path: str, status: os.stat_result, link: str = "") -> None:
        self.path = path
        self.link = link
        self.size = 0 if link else status.st_size
        self.mtime_ns = status.st_mtime_ns
        self.mode = stat.S_IMODE(status.st_mode)
        self.inode = status.st_ino

    @property
    def version(self) -> Version:
        """What tells this state of the file apart from others."""
        return self.size, self.mtime_ns

    def frame(self, offset: int, data: bytes, *, last: bool) -> OutputPiece:
        """A piece of it."""
        frame: OutputPiece = {
            "event": "output",
            "path": self.path,
            "size": self.size,
            "mtime": self.mtime_ns / 1e9,
            "mtime_ns": self.mtime_ns,
            "mode": self.mode,
            "offset": offset,
            "data": binascii.b2a_base64(data, newline=False).decode(),
            "last": last,
        }
        if self.link:
            frame["link"] = self.link
        return frame


def scan(directory: Directory, folder: str = FOLDER) -> Iterator[OutputFile]:
    """All files and links below a folder of a job."""
    try:
        with os.scandir(directory.join(folder)) as entries:
            found = list(entries)
    except OSError:
        return
    for entry in found:
        path = f"{folder}/{entry.name}"
        try:
            if entry.is_dir(follow_symlinks=False):
                yield from scan(directory, path)
            elif entry.is_symlink():
                yield OutputFile(path, entry.stat(follow_symlinks=False), os.readlink(entry.path))
            elif entry.is_file(follow_symlinks=False) and not path.endswith(PART):
                yield OutputFile(path, entry.stat(follow_symlinks=False))
        except OSError:  # gone by now
            continue


class Outputs:
    """The files of one job that a receiver does not have."""

    def __init__(self, directory: Directory, known: Mapping[str, Version]) -> None:
        self._directory = directory
        self._sent = dict(known)
        self._seen: dict[str, tuple[Version, float]] = {}
        """How files were when they were last looked at, and since when."""
        self._queue: dict[str, OutputFile] = {}
        self._current: OutputFile | None = None
        self._fd = -1
        self._offset = 0
        self._strict = True
        """Whether a file that changes while it is sent is given up."""

    @property
    def idle(self) -> bool:
        """Whether there is nothing to send."""
        return self._current is None and not self._queue

    def know(self, path: str, version: Version) -> None:
        """The receiver has this: it came from there."""
        self._sent[path] = version

    def look(self, now: float, *, everything: bool = False, strict: bool = True) -> None:
        """Find what changed and is to be sent."""
        self._strict = strict
        seen: dict[str, tuple[Version, float]] = {}
        for file in scan(self._directory):
            version, since = self._seen.get(file.path, (None, now))
            if version != file.version:
                since = now
            seen[file.path] = (file.version, since)
            if self._sent.get(file.path) == file.version:
                continue
            if everything or now - since >= STABLE_SECONDS:
                self._queue[file.path] = file
        self._seen = seen

    def next(self) -> OutputPiece | None:
        """The next piece to send."""
        while self._current is not None or self._queue:
            if self._current is None:
                self._open()
            if self._current is not None:
                frame = self._piece(self._current)
                if frame is not None:
                    return frame
        return None

    def _open(self) -> None:
        path = next(iter(self._queue))
        file = self._queue.pop(path)
        if not file.link:
            try:
                self._fd = self._directory.open_regular(path, os.O_RDONLY)
            except OSError:
                return
            if os.fstat(self._fd).st_ino != file.inode:
                os.close(self._fd)
                return
        self._current, self._offset = file, 0

    def _piece(self, file: OutputFile) -> OutputPiece | None:
        """The next piece of a file; None where it is given up."""
        if file.link:
            self._finish(file, sent=True)
            return file.frame(0, b"", last=True)
        offset = self._offset
        try:
            data = os.pread(self._fd, min(PIECE, file.size - offset), offset)
            status = os.fstat(self._fd)
        except OSError:
            self._finish(file, sent=False)
            return None
        self._offset += len(data)
        last = self._offset == file.size
        changed = (status.st_size, status.st_mtime_ns) != file.version
        if (not data and not last) or (changed and (self._strict or status.st_size < file.size)):
            self._finish(file, sent=False)
            return None
        if last:
            self._finish(file, sent=True)
        return file.frame(offset, data, last=last)

    def _finish(self, file: OutputFile, *, sent: bool) -> None:
        if sent:
            self._sent[file.path] = file.version
        self.close()

    def close(self) -> None:
        """Let go of the file that is being sent."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd, self._current = -1, None
