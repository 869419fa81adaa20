"""A log file that we write ourselves, from what comes over the network and may come twice.

Only whole lines count: what a crash left of the last one is removed before anything follows it.
"""

import os
from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from trainway.backends.kubernetes.pods import Place
from trainway.backends.logs.files import LogFile, last_lines, lines, offset_of_time, time_text

_PRIVATE: Final = 0o600
_READERS: Final = ".pods"
_LATE: Final = timedelta(seconds=2)
"""Times may go back by so little: the two streams of a container are stamped apart."""


class KeptLog:
    """The log of one container in one attempt."""

    def __init__(self, folder: Path, place: Place, container: str) -> None:
        name = f"{place.key}.{container}.{place.attempt}.log"
        role, job, rank, attempt = place
        self._file = LogFile(attempt, role, job, rank, container, folder / name)
        self._is_whole = False

    @property
    def name(self) -> str:
        """The file's name."""
        return self._file.name

    def append(self, data: bytes) -> None:
        """Write whole lines; all or nothing."""
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        file = os.open(self._file.path, flags, _PRIVATE)
        try:
            if not self._is_whole:
                self._mend(file)
            size = os.fstat(file).st_size
            written = os.write(file, data)
            if written != len(data):
                os.ftruncate(file, size)
                raise OSError(f"{self._file.path}: the disk is full")
        finally:
            os.close(file)

    def last_time(self) -> bytes:
        """When the last line was written; empty: there is none."""
        if not self._file.size():
            return b""
        found, _ = last_lines(self._file, 1)
        return found[-1][0] if found else b""

    def since(self, moment: datetime | None) -> "Repeats":
        """The lines that are not older than that; None: all lines."""
        size = self._file.size()
        if not size:
            return Repeats()
        start = 0 if moment is None else offset_of_time(self._file, time_text(moment - _LATE))
        return Repeats(line for line, _ in lines(self._file, start, size))

    def _mend(self, file: int) -> None:
        """Remove an unfinished last line."""
        size = os.fstat(file).st_size
        if size and os.pread(file, 1, size - 1) != b"\n":
            _, end = last_lines(self._file, 1)
            os.ftruncate(file, end)
        self._is_whole = True


class Repeats:
    """Lines that are in a file and may come again, each as often as it is there."""

    def __init__(self, known: Iterable[bytes] = ()) -> None:
        self._counts = Counter(map(hash, known))

    def __len__(self) -> int:
        return self._counts.total()

    def new(self, arrived: Iterable[bytes]) -> list[bytes]:
        """Those of the lines that are not in the file."""
        if not self._counts:
            return list(arrived)
        found = []
        for line in arrived:
            key = hash(line)
            count = self._counts.pop(key, 0)
            if count > 1:
                self._counts[key] = count - 1
            if not count:
                found.append(line)
        return found


class Readers:
    """Which pods each file has lines of, the newest last; remembered in the folder.

    A pod may take the place of another in the same attempt, while that one still writes. Only of
    the newest is the last line of the file the place to go on.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _READERS
        self._known: dict[str, list[str]] = {}
        if self._path.exists():
            for line in self._path.read_text().splitlines():
                name, _, uid = line.partition(" ")
                self._known.setdefault(name, []).append(uid)

    def is_new(self, name: str, uid: str) -> bool:
        """Whether nothing of the pod is in the file."""
        return uid not in self._known.get(name, ())

    def is_newest(self, name: str, uid: str) -> bool:
        """Whether the file ends with lines of the pod."""
        return self._known.get(name, [""])[-1] == uid

    def note(self, name: str, uid: str) -> None:
        """Remember a pod before its first line."""
        with self._path.open("a") as file:
            file.write(f"{name} {uid}\n")
        self._known.setdefault(name, []).append(uid)
