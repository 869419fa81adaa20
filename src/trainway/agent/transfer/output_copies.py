"""The output of a job: brought here from its hosts, and put on hosts that go on with the job.

A host is not trusted with more than the job's `output/`: paths that lead elsewhere are refused, and
so are symbolic links on the way and links that point out of it. A file is in place at once, when
its last byte has come, with the time it was last changed.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainway.agent.base.directory import Directory
    from trainway.agent.transfer.frames import OutputFields
    from trainway.json_types import Json

    Stamp = tuple[int, int]

FOLDER = "output"
INCOMING = "incoming"
PIECE = 192 * 1024
"""How many bytes of a file one frame has: 256 KiB as Base64."""


class RefusedPathError(Exception):
    """A path or link that leads out of the output directory."""


def parts_of(path: str) -> list[str]:
    """The names below `output/` that a path is made of."""
    first, *names = path.split("/")
    if first != FOLDER or not names or any(name in ("", ".", "..") for name in names):
        raise RefusedPathError(f"not a path below {FOLDER}/: {path!r}")
    if "\0" in path:
        raise RefusedPathError(f"not a path: {path!r}")
    return names


class Transfer:
    """A file that is coming."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.size = 0


class OutputCopies:
    """Writes what hosts send into `output/`."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._transfers: dict[tuple[str, str], Transfer] = {}
        self._count = 0
        self._on_hosts: dict[str, dict[str, Stamp]] = {}
        directory.make(INCOMING)
        folder = directory.open(INCOMING, os.O_RDONLY | os.O_DIRECTORY)
        with os.scandir(folder) as entries:
            for entry in entries:
                os.unlink(entry.name, dir_fd=folder)
        os.close(folder)

    def take(self, host: str, frame: Json, data: bytes) -> None:
        """Write a piece of a file. OSError: there is no room; RefusedPathError: it has no place."""
        path = str(frame["path"])
        names = parts_of(path)
        if frame.get("link") is not None:
            self._link(path, names, str(frame["link"]))
            return
        offset = int(frame.get("offset") or 0)
        transfer = self._transfer(host, path, offset)
        if transfer is None:
            return
        try:
            self._append(transfer, data)
            if frame.get("last"):
                self._finish(host, path, names, transfer, frame)
        except OSError:
            self._give_up(host, path)
            raise

    def _transfer(self, host: str, path: str, offset: int) -> Transfer | None:
        """The transfer that a piece belongs to; None where its beginning is missing."""
        if offset:
            transfer = self._transfers.get((host, path))
            return transfer if transfer is not None and transfer.size == offset else None
        self._give_up(host, path)
        self._count += 1
        transfer = self._transfers[host, path] = Transfer(f"{INCOMING}/{self._count}")
        return transfer

    def _give_up(self, host: str, path: str) -> None:
        transfer = self._transfers.pop((host, path), None)
        if transfer is not None:
            self._directory.remove(transfer.name)

    def _append(self, transfer: Transfer, data: bytes) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        with os.fdopen(self._directory.open_regular(transfer.name, flags), "ab", 0) as file:
            view = memoryview(data)
            while view:
                view = view[file.write(view) or 0 :]
        transfer.size += len(data)

    def _finish(
        self, host: str, path: str, names: list[str], transfer: Transfer, frame: Json
    ) -> None:
        changed = _changed_ns(frame)
        mode = int(frame.get("mode") or 0o600) & 0o777 | stat.S_IRUSR | stat.S_IWUSR
        fd = self._directory.open_regular(transfer.name, os.O_RDWR)
        try:
            os.fchmod(fd, mode)
            os.utime(fd, ns=(changed, changed))
        finally:
            os.close(fd)
        folder = self._folder(names[:-1])
        try:
            os.replace(transfer.name, names[-1], src_dir_fd=self._directory.fd, dst_dir_fd=folder)
        finally:
            os.close(folder)
        del self._transfers[host, path]
        self._on_hosts.setdefault(host, {})[path] = (transfer.size, changed)

    def _link(self, path: str, names: list[str], target: str) -> None:
        if not _stays_inside(path, target):
            raise RefusedPathError(f"{path!r} points out of {FOLDER}/: {target!r}")
        self._count += 1
        draft = f"{INCOMING}/{self._count}"
        folder = self._folder(names[:-1])
        try:
            os.symlink(target, draft, dir_fd=self._directory.fd)
            os.replace(draft, names[-1], src_dir_fd=self._directory.fd, dst_dir_fd=folder)
        except OSError:
            self._directory.remove(draft)
            raise
        finally:
            os.close(folder)

    def _folder(self, names: list[str]) -> int:
        """Open a directory below `output/`, made where it is missing; never through a link."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        folder = self._directory.open(FOLDER, flags)
        for name in names:
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=folder)
            try:
                inner = os.open(name, flags, dir_fd=folder)
            finally:
                os.close(folder)
            folder = inner
        return folder

    def whole(self) -> dict[str, list[int]]:
        """Size and time of every file that is here."""
        return {path: list(stamp) for path, stamp, is_link in self._files() if not is_link}

    def forget_host(self, host: str) -> None:
        """A host has nothing of the job any more."""
        self._on_hosts.pop(host, None)
        for other, path in list(self._transfers):
            if other == host:
                self._give_up(other, path)

    def missing_on(self, host: str) -> list[str]:
        """The files that are here and not, as they are, on a host."""
        there = self._on_hosts.get(host, {})
        return [path for path, stamp, _ in self._files() if there.get(path) != stamp]

    def missing_size(self, host: str) -> int:
        """How many bytes these files have together."""
        there = self._on_hosts.get(host, {})
        return sum(
            stamp[0]
            for path, stamp, is_link in self._files()
            if not is_link and there.get(path) != stamp
        )

    def note_put(self, host: str, path: str, stamp: Stamp) -> None:
        """A host has a file as it is here."""
        self._on_hosts.setdefault(host, {})[path] = stamp

    def pieces(self, host: str, path: str) -> Iterator[tuple[OutputFields, bytes]]:
        """A file as `put` frames have it, piece by piece; nothing where it is gone."""
        try:
            target = os.readlink(path, dir_fd=self._directory.fd)
        except OSError:
            target = ""
        if target:
            link: OutputFields = {"path": path, "link": target, "offset": 0, "last": True}
            yield link, b""
            return
        try:
            fd = self._directory.open_regular(path, os.O_RDONLY)
        except OSError:
            return
        with os.fdopen(fd, "rb") as file:
            facts = os.fstat(fd)
            offset, data = 0, file.read(PIECE)
            while True:
                following = file.read(PIECE) if data else b""
                fields: OutputFields = {
                    "path": path,
                    "mode": facts.st_mode & 0o777,
                    "mtime_ns": facts.st_mtime_ns,
                    "offset": offset,
                    "last": not following,
                }
                yield fields, data
                if not following:
                    break
                offset, data = offset + len(data), following
            self.note_put(host, path, (facts.st_size, facts.st_mtime_ns))

    def _files(self) -> Iterator[tuple[str, Stamp, bool]]:
        waiting = [FOLDER]
        while waiting:
            folder = waiting.pop()
            try:
                fd = self._directory.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            except OSError:
                continue
            try:
                with os.scandir(fd) as entries:
                    names = sorted(entry.name for entry in entries)
                for name in names:
                    try:
                        facts = os.stat(name, dir_fd=fd, follow_symlinks=False)
                    except FileNotFoundError:  # gone by now
                        continue
                    path = f"{folder}/{name}"
                    if stat.S_ISDIR(facts.st_mode):
                        waiting.append(path)
                    elif stat.S_ISREG(facts.st_mode) or stat.S_ISLNK(facts.st_mode):
                        stamp = (facts.st_size, facts.st_mtime_ns)
                        yield path, stamp, stat.S_ISLNK(facts.st_mode)
            finally:
                os.close(fd)


def _stays_inside(path: str, target: str) -> bool:
    """Whether a link stays below `output/`; `..` may only lead it up from where it stands."""
    if not target or target.startswith("/") or "\0" in target:
        return False
    names = target.split("/")
    ups = next((i for i, name in enumerate(names) if name != ".."), len(names))
    return ".." not in names[ups:] and ups <= len(parts_of(path)) - 1


def _changed_ns(frame: Json) -> int:
    exact = frame.get("mtime_ns")
    return int(exact) if exact is not None else int(float(frame.get("mtime") or 0) * 1e9)
