"""The log files of a job: what their names say, and finding a place in one without reading it all.

A file is `<role>-<job>-<pod>.<container>.<attempt>.log`, a line in it
`2026-11-15T05:10:00.123456Z o text`, with `o` for stdout and `e` for stderr. Times never go back
within a file, so a time is found by bisection and the end by reading backwards.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

_NAME: Final = re.compile(
    r"(?P<role>.+)-(?P<job>\d+)-(?P<rank>\d+)\.(?P<container>[^.]+)\.(?P<attempt>\d+)\.log"
)
_LINE: Final = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z [oe] ")
_TIME_LENGTH: Final = 27
_PREFIX_LENGTH: Final = _TIME_LENGTH + 3
_BLOCK: Final = 1 << 16
_CHUNK: Final = 1 << 20

STREAMS: Final = {b"o": "stdout", b"e": "stderr"}


@dataclass(frozen=True, order=True)
class LogFile:
    """The log of one container of one pod in one attempt."""

    attempt: int
    role: str
    job: int
    rank: int
    container: str
    path: Path

    @property
    def name(self) -> str:
        """The file's name, which no other log of the job has."""
        return self.path.name

    def size(self) -> int:
        """Its length in bytes now; none once it was removed."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0


def log_files(folder: Path) -> list[LogFile]:
    """All logs of a job, in the order of attempts, roles and ranks."""
    found = []
    for path in folder.iterdir() if folder.is_dir() else ():
        match = _NAME.fullmatch(path.name)
        if match:
            role, job, rank, container, attempt = match.groups()
            found.append(LogFile(int(attempt), role, int(job), int(rank), container, path))
    return sorted(found)


def time_text(moment: datetime) -> bytes:
    """A time as lines begin with it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ").encode()


def time_of(line: bytes) -> bytes:
    """When the line was written; empty for one that does not say so."""
    return line[:_TIME_LENGTH] if _LINE.match(line) else b""


def parts_of(line: bytes) -> tuple[bytes, str, bytes]:
    """When it was written, where to, and what; one without a time counts as output."""
    if _LINE.match(line):
        stream = STREAMS[line[_TIME_LENGTH + 1 : _TIME_LENGTH + 2]]
        return line[:_TIME_LENGTH], stream, line[_PREFIX_LENGTH:]
    return b"", "stdout", line


def lines(file: LogFile, start: int, end: int) -> Iterator[tuple[bytes, int]]:
    """The complete lines between two offsets, and the offset behind each."""
    try:
        handle = file.path.open("rb")
    except FileNotFoundError:
        return
    with handle:
        handle.seek(start)
        position, rest = start, b""
        while position + len(rest) < end:
            chunk = handle.read(min(_CHUNK, end - position - len(rest)))
            if not chunk:
                return
            *complete, rest = (rest + chunk).split(b"\n")
            for line in complete:
                position += len(line) + 1
                yield line, position


def offset_of_time(file: LogFile, moment: bytes) -> int:
    """Where the first line begins that is not older than that."""
    low, high = 0, file.size()
    with file.path.open("rb") as handle:
        while low < high:
            middle = (low + high) // 2
            handle.seek(middle)
            begin = middle
            if middle:  # a line that begins before the middle is not looked at
                handle.seek(middle - 1)
                begin = middle - 1 + len(handle.readline())
            if begin >= high:
                high = middle
                continue
            line = handle.readline()
            if time_of(line) < moment:
                low = begin + len(line)
            else:
                high = middle
        return low


def last_lines(file: LogFile, count: int) -> tuple[list[tuple[bytes, int]], int]:
    """The time and the offset of each of the last lines, oldest first, and where they end."""
    with file.path.open("rb") as handle:
        begin = handle.seek(0, os.SEEK_END)
        data = b""
        while begin > 0 and data.count(b"\n") <= count:
            step = min(max(_BLOCK, len(data)), begin)
            begin -= step
            handle.seek(begin)
            data = handle.read(step) + data
    offset = begin
    found = []
    *complete, _ = data.split(b"\n")
    for index, line in enumerate(complete):
        if index or begin == 0:  # the first one may lack its beginning
            found.append((time_of(line), offset))
        offset += len(line) + 1
    return (found[-count:] if count else []), offset
