"""The log files of a job: what their names say, and finding a place in one without reading it all.

A file is `<role>-<job>-<pod>.<container>.<attempt>.log`, a line in it
`2026-11-15T05:10:00.123456Z o text`, with `o` for stdout and `e` for stderr; with `O` and `E` the
next line of the same stream goes on with it. Times never go back within a file, so a time is found
by bisection and the end by reading backwards.

Lines are 64 KiB long at most, but whatever is there, nothing here takes more memory than a few
blocks: a file may be of an older version, or of the job's own making.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import IO, Final, NamedTuple

from trainway.agent.kubelet.long_lines import LINE_LIMIT
from trainway.agent.kubelet.long_lines import parts_of as parts_of_long
from trainway.backends import job_file

_NAME: Final = re.compile(
    r"(?P<role>.+)-(?P<job>\d+)-(?P<rank>\d+)\.(?P<container>[^.]+)\.(?P<attempt>\d+)\.log"
)
_LINE: Final = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z [oeOE] ")
_TIME_LENGTH: Final = 27
_PREFIX_LENGTH: Final = _TIME_LENGTH + 3
_BLOCK: Final = 1 << 16
_CHUNK: Final = 1 << 20
_LONGEST: Final = LINE_LIMIT + _PREFIX_LENGTH

STREAMS: Final = {b"o": "stdout", b"e": "stderr", b"O": "stdout", b"E": "stderr"}


class Line(NamedTuple):
    """A line of a file, or a part of one."""

    data: bytes
    end: int
    """The offset behind it."""
    is_whole: bool = True
    """Whether it ends there; else it goes on."""


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

    @property
    def root(self) -> Path:
        """The directory of its job."""
        return self.path.parent.parent

    def size(self) -> int:
        """Its length in bytes now; none once it was removed."""
        return job_file.size(self.root, self.path)


def log_files(folder: Path) -> list[LogFile]:
    """All logs of a job, in the order of attempts, roles and ranks."""
    found = []
    for name, is_file in job_file.listing(folder.parent, folder):
        match = _NAME.fullmatch(name)
        if match and is_file:
            role, job, rank, container, attempt = match.groups()
            path = folder / name
            found.append(LogFile(int(attempt), role, int(job), int(rank), container, path))
        elif match:
            job_file.warn(job_file.RefusedFileError(folder / name, "it is not a regular file"))
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


def is_begun(line: bytes) -> bool:
    """Whether the next line of the same stream goes on with it."""
    return line[_TIME_LENGTH + 1 : _TIME_LENGTH + 2] in (b"O", b"E") and bool(_LINE.match(line))


def lines(file: LogFile, start: int, end: int, chunk: int = _CHUNK) -> Iterator[Line]:
    """The complete lines between two offsets; those that are too long in parts.

    The file is opened for each chunk, so that readers of many files hold none open.
    """
    position, rest = start, b""
    while position + len(rest) < end:
        begin = position + len(rest)
        data = job_file.read_at(file.root, file.path, begin, min(chunk, end - begin))
        if not data:
            return
        *complete, rest = (rest + data).split(b"\n")
        for line in complete:
            if len(line) > _LONGEST:
                *begun, line = _parts(line)  # noqa: PLW2901 - its last part
                for part in begun:
                    position += len(part)
                    yield Line(part, position, is_whole=False)
            position += len(line) + 1
            yield Line(line, position)
        if len(rest) > _LONGEST:
            *begun, rest = _parts(rest)
            for part in begun:
                position += len(part)
                yield Line(part, position, is_whole=False)


def _parts(line: bytes) -> Iterator[bytes]:
    return parts_of_long(line, _LONGEST)


def offset_of_time(file: LogFile, moment: bytes) -> int:
    """Where the first line begins that is not older than that."""
    try:
        handle = job_file.reader(file.root, file.path)
    except (FileNotFoundError, job_file.RefusedFileError):
        return 0
    with handle:
        low = 0
        size = high = os.fstat(handle.fileno()).st_size
        while low < high:
            middle = (low + high) // 2
            # A line that begins before the middle is not looked at.
            begin = _behind_newline(handle, middle - 1, high) if middle else 0
            if begin >= high:
                high = middle
                continue
            handle.seek(begin)
            if time_of(handle.read(_PREFIX_LENGTH)) < moment:
                low = _behind_newline(handle, begin, size)
            else:
                high = middle
        return low


def _behind_newline(handle: IO[bytes], start: int, end: int) -> int:
    """Where the first line begins behind a place; the end where none does before it."""
    handle.seek(start)
    position = start
    while position < end and (data := handle.read(min(_BLOCK, end - position))):
        found = data.find(b"\n")
        if found >= 0:
            return position + found + 1
        position += len(data)
    return end


def backwards(
    file: LogFile, block: int = _BLOCK, end: int | None = None
) -> Iterator[tuple[bytes, int]]:
    """Time and offset of every whole line before `end`, the last one first.

    Again no file is held open.
    """
    end = file.size() if end is None else end
    is_behind = True
    """Whether nothing but half a line was seen."""
    while end > 0:
        begin = max(0, end - block)
        # With the beginning of what follows: the time of a line may stand on both sides.
        data = job_file.read_at(file.root, file.path, begin, end - begin + _PREFIX_LENGTH)
        newline = end - begin
        while (newline := data.rfind(b"\n", 0, newline)) >= 0:
            if not is_behind:
                time = time_of(data[newline + 1 : newline + 1 + _PREFIX_LENGTH])
                yield time, begin + newline + 1
            is_behind = False
        end = begin
    if not is_behind:
        yield time_of(job_file.read_at(file.root, file.path, 0, _PREFIX_LENGTH)), 0


def beginning_at(file: LogFile, offset: int) -> int:
    """Where the first line begins that does not begin before an offset."""
    if offset <= 0:
        return 0
    try:
        handle = job_file.reader(file.root, file.path)
    except (FileNotFoundError, job_file.RefusedFileError):
        return 0
    with handle:
        return _behind_newline(handle, offset - 1, os.fstat(handle.fileno()).st_size)


def time_at(file: LogFile, offset: int) -> bytes:
    """When the line was written that begins there; empty for one that does not say so."""
    return time_of(job_file.read_at(file.root, file.path, offset, _PREFIX_LENGTH))


def last_lines(file: LogFile, count: int) -> list[tuple[bytes, int]]:
    """The time and the offset of each of the last lines, oldest first."""
    return list(islice(backwards(file), count))[::-1]


def whole_size(file: LogFile) -> int:
    """Where the last whole line ends."""
    end = file.size()
    while end > 0:
        begin = max(0, end - _BLOCK)
        newline = job_file.read_at(file.root, file.path, begin, end - begin).rfind(b"\n")
        if newline >= 0:
            return begin + newline + 1
        end = begin
    return 0
