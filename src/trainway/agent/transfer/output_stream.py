"""Carries an output directory out of a pod and into one, as a stream of files.

The same code runs on both sides: the server imports it, and the Python of the pod is given it as
text. So it needs nothing but the standard library of Python 3.8. A file arrives as a whole or not
at all, and what comes from the other side never leads out of the directory.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    Version = list[int]

PIECE = 1 << 16
"""How many bytes of a file come together at most."""
LONGEST = 1 << 16
"""How long a line between the files may be."""
MARK = ".trainway-left"
"""The file that tells the keeper of a pod that it is not needed any more."""
PART = ".trainway-part"
"""A file that has not come to its end."""
OURS = (MARK, PART)
"""What is never sent or taken."""


def sent(root: str, known: Mapping[str, Version]) -> Iterator[bytes]:
    """All that is below the root; of files that the other side has, only that they are there."""
    count = 0
    for path, status in _found(root, ""):
        full = os.path.join(root, path)
        try:
            if stat.S_ISLNK(status.st_mode):
                yield _line({"path": path, "link": os.readlink(full)})
            elif stat.S_ISDIR(status.st_mode):
                yield _line({"path": path, "folder": True})
            elif known.get(path) == [status.st_size, status.st_mtime_ns]:
                yield _line({"path": path, "kept": True, "version": known[path]})
            else:
                file = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                yield from _file(path, file)
        except FileNotFoundError:
            continue
        count += 1
    yield _line({"end": count})


def _found(root: str, folder: str) -> Iterator[tuple[str, os.stat_result]]:
    try:
        names = sorted(os.listdir(os.path.join(root, folder)))
    except (FileNotFoundError, NotADirectoryError):
        return
    for name in names:
        path = os.path.join(folder, name)
        try:
            status = os.lstat(os.path.join(root, path))
        except FileNotFoundError:
            continue
        kinds = (stat.S_ISREG, stat.S_ISDIR, stat.S_ISLNK)
        if path in OURS or not any(is_kind(status.st_mode) for is_kind in kinds):
            continue
        yield path, status
        if stat.S_ISDIR(status.st_mode):
            yield from _found(root, path)


def _file(path: str, file: int) -> Iterator[bytes]:
    """A file in pieces; one that changes meanwhile does not count."""
    try:
        before = os.fstat(file)
        version = [before.st_size, before.st_mtime_ns]
        mode = stat.S_IMODE(before.st_mode) & 0o777
        yield _line({"path": path, "mode": mode, "version": version})
        while True:
            piece = os.read(file, PIECE)
            if not piece:
                break
            yield b"%d\n" % len(piece) + piece
        after = os.fstat(file)
        is_whole = version == [after.st_size, after.st_mtime_ns]
        yield b"0\n" if is_whole else b"-1\n"
    finally:
        os.close(file)


def _line(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data).encode() + b"\n"


class Receiver:
    """Takes such a stream in pieces of any length; ValueError: it is none."""

    def __init__(self, root: str) -> None:
        self.versions: dict[str, Version] = {}
        """The files that the other side has and that are here, with their versions."""
        self.refused: list[str] = []
        """What has no place here: paths and links that lead elsewhere."""
        self.is_complete = False
        self._paths: set[str] = set()
        self._root = root
        self._part = os.path.join(root, PART)
        self._buffer = bytearray()
        self._left = 0
        self._head: dict[str, Any] | None = None
        self._file: int | None = None
        os.makedirs(root, mode=0o700, exist_ok=True)

    def feed(self, data: bytes) -> None:
        """Take some more of it."""
        self._buffer += data
        while not self.is_complete and self._step():
            pass

    def close(self) -> None:
        """Forget a file that has not come to its end."""
        if self._file is not None:
            os.close(self._file)
            os.unlink(self._part)
            self._file = None

    def prune(self) -> None:
        """Remove what the other side does not have any more."""
        for path, status in list(_found(self._root, ""))[::-1]:
            if path not in self._paths:
                full = os.path.join(self._root, path)
                os.rmdir(full) if stat.S_ISDIR(status.st_mode) else os.unlink(full)

    def _step(self) -> bool:
        """Take the next line or piece; whether there was one."""
        if self._left:
            taken = bytes(self._buffer[: self._left])
            del self._buffer[: self._left]
            self._left -= len(taken)
            while taken and self._file is not None:
                taken = taken[os.write(self._file, taken) :]
            return self._left == 0
        end = self._buffer.find(b"\n")
        if end < 0:
            if len(self._buffer) > LONGEST:
                raise ValueError("a line of it is too long")
            return False
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        if self._head is None:
            self._begin(json.loads(line))
        else:
            self._piece(int(line))
        return True

    def _begin(self, head: Any) -> None:
        if not isinstance(head, dict):
            raise ValueError("a line of it is no object")
        if "end" in head:
            self.is_complete = True
            return
        path = str(head.get("path"))
        is_file = not any(name in head for name in ("link", "folder", "kept"))
        self._head = head if is_file else None
        if not _is_inside(path) or ("link" in head and not _leads_inside(path, str(head["link"]))):
            self.refused.append(path)
            return
        self._paths.add(path)
        if is_file:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
            self._file = os.open(self._part, flags, 0o600)
        elif "kept" in head:
            self.versions[path] = [int(number) for number in head["version"]]
        elif "link" in head:
            os.symlink(str(head["link"]), self._cleared(path))
        else:
            self._make_folder(path)

    def _piece(self, size: int) -> None:
        if size > PIECE:
            raise ValueError("a piece of it is too long")
        if size > 0:
            self._left = size
            return
        head, self._head = self._head or {}, None
        if self._file is None:
            return
        file, self._file = self._file, None
        path = str(head["path"])
        if size == 0:
            changed, version = int(head["version"][1]), [int(item) for item in head["version"]]
            os.fchmod(file, int(head["mode"]) & 0o777)
            os.close(file)
            os.utime(self._part, ns=(changed, changed))
            os.replace(self._part, self._cleared(path))
            self.versions[path] = version
        else:
            os.close(file)
            os.unlink(self._part)

    def _cleared(self, path: str) -> str:
        """The place of a file or link, with its folders and with nothing else in it."""
        folder = os.path.dirname(path)
        if folder:
            self._make_folder(folder)
        full = os.path.join(self._root, path)
        if os.path.isdir(full) and not os.path.islink(full):
            shutil.rmtree(full)
        elif os.path.lexists(full):
            os.unlink(full)
        return full

    def _make_folder(self, path: str) -> None:
        full = self._root
        for name in path.split("/"):
            full = os.path.join(full, name)
            if os.path.islink(full) or (os.path.lexists(full) and not os.path.isdir(full)):
                os.unlink(full)
            if not os.path.isdir(full):
                os.mkdir(full, 0o700)


def _is_inside(path: str) -> bool:
    names = path.split("/")
    return (
        "\0" not in path and path not in OURS and not any(name in ("", ".", "..") for name in names)
    )


def _leads_inside(path: str, link: str) -> bool:
    aim = os.path.normpath(os.path.join(os.path.dirname(path), link))
    return bool(link) and not link.startswith("/") and aim.split("/")[0] != ".."


def main(words: list[str]) -> None:
    """Send a directory, take one in, or tell the keeper of a pod to end."""
    what, root = words[:2]
    if what == "send":
        for piece in sent(root, json.loads(sys.stdin.buffer.readline())):
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    elif what == "receive":
        receiver = Receiver(root)
        while not receiver.is_complete:
            data = os.read(0, PIECE)
            if not data:
                sys.exit("the output of the job has not come to its end")
            receiver.feed(data)
        with open(words[2], "w"):
            pass
    else:
        with open(os.path.join(root, MARK), "w"):
            pass


if __name__ == "__main__":
    main(sys.argv[1:])
