"""Backends that spool: what comes of a job is kept in a directory of this machine, and read there.

Wherever a job runs, its logs and its output are then found in the same place and in the same form.
"""

import asyncio
import logging
import os
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

from trainway.agent.base.log_limit import REACHED, is_closed
from trainway.backends import job_file
from trainway.backends.agents.jobdir import JobDir
from trainway.backends.base import Handle, LogLine, LogQuery
from trainway.backends.job_removal import remove_tree
from trainway.backends.job_threads import job_threads
from trainway.backends.logs.cursor import Cursor
from trainway.backends.logs.stream import stream_logs

_LEAST_ROOM: Final = 64 << 10
"""With fewer bytes on the disk a line of a log may not have been written."""

log = logging.getLogger(__name__)


class SpoolBackend(ABC):
    """A backend whose jobs have a directory each on this machine."""

    @abstractmethod
    def job_dir(self, handle: Handle) -> JobDir:
        """The directory of a job."""

    def check_logs(self, query: LogQuery) -> None:
        """See whether the cursor is one of ours."""
        if query.cursor:
            Cursor.parse(query.cursor)

    def logs(
        self, handle: Handle, query: LogQuery, ended: asyncio.Event
    ) -> AsyncIterator[list[LogLine]]:
        """What is here of the logs of all pods, merged by time."""
        return stream_logs(self.job_dir(handle).logs, query, ended)

    def log_folder(self, handle: Handle) -> Path:
        """The folder with the logs of its containers."""
        return self.job_dir(handle).logs

    def output(self, handle: Handle) -> Path:
        """The folder that the job writes to, or into which its output is copied."""
        return self.job_dir(handle).output

    async def log_sizes(self, handle: Handle) -> dict[str, int]:
        """How much each container has written."""
        job = self.job_dir(handle)

        def measured() -> dict[str, int]:
            return {name: job_file.size(job.path, job.logs / name) for name in _log_names(job)}

        return await job_threads.run(measured)

    async def log_gap(self, handle: Handle) -> str:
        """Why the logs do not show all that is written; empty: they do."""
        job = self.job_dir(handle)

        def found() -> str:
            disk = os.statvfs(job.path)
            if disk.f_bavail * disk.f_frsize < _LEAST_ROOM:
                return "the disk with its logs is full"
            for name in _log_names(job):
                opened = job_file.opened(job.path, job.logs / name)
                try:
                    if is_closed(opened):
                        return REACHED
                finally:
                    os.close(opened)
            return ""

        return await job_threads.run(found)

    async def _discard(self, handle: Handle) -> None:
        """Remove what is kept here of a job."""
        path = self.job_dir(handle).path
        try:
            await job_threads.run(remove_tree, path)
        except OSError as error:
            log.warning("%s cannot be removed: %s", path, error)


def _log_names(job: JobDir) -> list[str]:
    try:
        return [name for name, is_file in job_file.listing(job.path, job.logs) if is_file]
    except FileNotFoundError:
        return []
