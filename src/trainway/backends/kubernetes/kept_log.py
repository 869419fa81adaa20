"""A log file that we write ourselves, from what comes over the network and may come twice.

Only whole lines count: what a crash left of the last one is removed before anything follows it.
"""

import os
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from trainway.agent.base.log_limit import DEFAULT, LogLimit, is_closed
from trainway.backends import job_file
from trainway.backends.kubernetes.pods import Place
from trainway.backends.logs.files import (
    LogFile,
    last_lines,
    lines,
    offset_of_time,
    time_text,
    whole_size,
)

_READERS: Final = ".pods"
_LARGEST: Final = 1 << 26
_LATE: Final = timedelta(seconds=2)
"""How far times may go back: the two streams of a container are stamped apart."""


class KeptLog:
    """The log of one container in one attempt."""

    def __init__(
        self, folder: Path, place: Place, container: str, limit: LogLimit | None = None
    ) -> None:
        name = f"{place.key}.{container}.{place.attempt}.log"
        role, job, rank, attempt = place
        self._file = LogFile(attempt, role, job, rank, container, folder / name)
        self._is_whole = False
        self._limit = limit or LogLimit(DEFAULT)
        self._is_full: bool | None = None
        """Whether it says that the limit was reached; None: nobody has looked."""

    @property
    def name(self) -> str:
        """The file's name."""
        return self._file.name

    def append(self, data: bytes) -> None:
        """Write whole lines, all or nothing; those beyond the limit are dropped."""
        if self._is_full:
            return
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
        file = job_file.opened(self._file.root, self._file.path, flags)
        try:
            if not self._is_whole:
                self._mend(file)
            if self._is_full is None and is_closed(file):
                self._is_full = True
                return
            fitting = self._limit.fitting(data)
            is_full = len(fitting) < len(data)
            if is_full:
                fitting += self._limit.notice(time.time())
            size = os.fstat(file).st_size
            written = os.write(file, fitting)
            if written != len(fitting):
                os.ftruncate(file, size)
                raise OSError(f"{self._file.path}: the disk is full")
            self._limit.spend(written)
            self._is_full = is_full
        finally:
            os.close(file)

    def last_time(self) -> bytes:
        """When the last line was written; empty: there is none."""
        if not self._file.size():
            return b""
        found = last_lines(self._file, 1)
        return found[-1][0] if found else b""

    def since(self, moment: datetime | None) -> "Repeats":
        """The lines that are not older than that; None: all lines."""
        size = self._file.size()
        if not size:
            return Repeats()
        start = 0 if moment is None else offset_of_time(self._file, time_text(moment - _LATE))
        return Repeats(line.data for line in lines(self._file, start, size))

    def _mend(self, file: int) -> None:
        """Remove an unfinished last line."""
        size = os.fstat(file).st_size
        if size and os.pread(file, 1, size - 1) != b"\n":
            os.ftruncate(file, whole_size(self._file))
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
        self._root = folder.parent
        with suppress(FileNotFoundError):
            for line in job_file.read(self._root, self._path, _LARGEST).decode().splitlines():
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
        job_file.append(self._root, self._path, f"{name} {uid}\n".encode())
        self._known.setdefault(name, []).append(uid)
