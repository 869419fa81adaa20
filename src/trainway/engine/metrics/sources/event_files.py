"""Metrics from TensorBoard files in the output directory of a job, read as they grow.

The job writes there what it wants, so no link is followed, only regular files are opened, and not
more than so many are looked at. How far each was read is stored with its points. The threads are
our own: a disk that does not answer keeps nobody from reading logs.
"""

import asyncio
import hashlib
import logging
import math
import os
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Final

from trainway.backends import job_file
from trainway.backends.job_threads import JobThreads
from trainway.engine.metrics.recorder import Recorder
from trainway.engine.metrics.report import LATEST, NAME_LIMIT, Position, Report
from trainway.engine.metrics.sources.event_records import DamagedFileError, Scalars, scalars
from trainway.errors import DatabaseError

log = logging.getLogger(__name__)

PREFIX: Final = "events.out.tfevents."
MOST_FILES: Final = 200
"""How many files of a job are read, also of those that are gone again."""
MOST_FOLDERS: Final = 1_000
MOST_ENTRIES: Final = 20_000
MOST_LEVELS: Final = 16
_PAUSE_S: Final = 5.0
"""Between two looks at the directory, in seconds."""
_SHARE: Final = 0.02
"""How much of the time looking may take."""
_CHUNK: Final = 1 << 17
_PARTS: Final = ("train", "training", "val", "valid", "validation", "test", "eval")
"""Directories whose name is a part of the series: the same tags are in each of them."""
_threads: Final = JobThreads(most=4)


class EventFiles:
    """The TensorBoard files of one job."""

    def __init__(self, job_id: str, output: Path, recorder: Recorder) -> None:
        self._job_id = job_id
        self._output = output
        self._recorder = recorder
        self._offsets: dict[str, int] = {}
        self._damaged: dict[str, int] = {}
        """How long files were when they were last found to be damaged."""

    async def read(self, ended: asyncio.Event) -> None:
        """Read until the job has ended, and then the rest."""
        while True:
            is_over, begun = ended.is_set(), time.monotonic()
            try:
                for path, size in await _threads.run(self._found):
                    await self._read_file(path, size)
            except DatabaseError as error:
                log.warning("job %s: its files are read again later: %s", self._job_id, error)
            if is_over:
                return
            pause = max(_PAUSE_S, (time.monotonic() - begun) / _SHARE)
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await ended.wait()

    def _found(self) -> list[tuple[str, int]]:
        return list(event_files(self._output))

    async def _read_file(self, path: str, size: int) -> None:
        source = f"events/{hashlib.sha256(os.fsencode(path)).hexdigest()[:40]}"
        if path not in self._offsets:
            if len(self._offsets) >= MOST_FILES:
                return
            known = await self._recorder.position(self._job_id, source)
            self._offsets[path] = int(known or 0)
        if size < self._offsets[path]:
            self._offsets[path] = 0  # another file has its name now
        while self._offsets[path] < size and self._damaged.get(path) != size:
            events = await _threads.run(self._events, path, self._offsets[path], size)
            if not events:
                return
            self._offsets[path] = events[-1].end
            await self._recorder.note(self._job_id, _reports(path, source, events))

    def _events(self, path: str, offset: int, size: int) -> list[Scalars]:
        """The next events of a file; none: there are no more that could be read now."""
        found: list[Scalars] = []
        try:
            data = job_file.read_at(self._output.parent, self._output / path, offset, _CHUNK)
            found.extend(scalars(data, offset, size))
        except DamagedFileError as error:
            if path not in self._damaged:
                log.warning("job %s: %r is read no further: %s", self._job_id, path, error)
            self._damaged[path] = size  # what is not all there yet looks like this, too
        except OSError as error:
            log.info("job %s: %r cannot be read now: %s", self._job_id, path, error)
        return found


def event_files(output: Path) -> Iterator[tuple[str, int]]:
    """The files below a directory and their sizes, so many at most and the uppermost first."""
    files, entries = 0, 0
    folders = deque([PurePosixPath()])
    for _ in range(MOST_FOLDERS):
        if not folders or files >= MOST_FILES or entries >= MOST_ENTRIES:
            return
        folder = folders.popleft()
        inner, found, count = _listed(output, folder, MOST_ENTRIES - entries)
        entries += count
        if len(folder.parts) < MOST_LEVELS:
            folders.extend(folder / name for name in sorted(inner))
        for name, size in sorted(found)[: MOST_FILES - files]:
            files += 1
            yield str(folder / name), size


def _listed(
    output: Path, folder: PurePosixPath, most: int
) -> tuple[list[str], list[tuple[str, int]], int]:
    """The directories and the TensorBoard files in a directory, and how many entries it has."""
    inner: list[str] = []
    found: list[tuple[str, int]] = []
    count = 0
    with suppress(OSError), job_file.folder(output.parent, output / folder) as above:
        listed = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=above)
        try:
            with os.scandir(listed) as entries:
                for entry in islice(entries, most):
                    count += 1
                    if entry.is_dir(follow_symlinks=False):
                        inner.append(entry.name)
                    elif entry.name.startswith(PREFIX) and entry.is_file(follow_symlinks=False):
                        found.append((entry.name, entry.stat(follow_symlinks=False).st_size))
        finally:
            os.close(listed)
    return inner, found, count


def _reports(path: str, source: str, events: Sequence[Scalars]) -> Iterator[Report]:
    """What events say, and after them how far the file was read."""
    folder = PurePosixPath(path).parent.name
    for event in events:
        values = {
            _series(folder, tag)[:NAME_LIMIT]: value
            for tag, value in event.values.items()
            if tag.isprintable() and math.isfinite(value) and 0 < event.time < LATEST
        }
        if values:
            place = Position(source, str(event.end))
            yield Report(event.time, values, event.step, position=place)
    yield Report(0, {}, position=Position(source, str(events[-1].end)))


def _series(folder: str, tag: str) -> str:
    """The name of a series; `add_scalars` has a directory `<tag>_<name>` for each of its lines."""
    if folder.lower() in _PARTS:
        return f"{folder}/{tag}"
    for start in (f"{tag.replace('/', '_')}_", f"{tag.rpartition('/')[2]}_"):
        if folder.startswith(start) and folder.isprintable():
            return f"{tag}/{folder.removeprefix(start)}"
    return tag
