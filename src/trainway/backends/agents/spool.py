"""Backends that spool: what comes of a job is kept in a directory of this machine, and read there.

Wherever a job runs, its logs and its output are then found in the same place and in the same form.
"""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from pathlib import Path

from trainway.backends.agents.jobdir import JobDir
from trainway.backends.base import Handle, LogLine, LogQuery
from trainway.backends.job_removal import remove_tree
from trainway.backends.job_threads import job_threads
from trainway.backends.logs.cursor import Cursor
from trainway.backends.logs.stream import stream_logs

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

    def output(self, handle: Handle) -> Path:
        """The folder that the job writes to, or into which its output is copied."""
        return self.job_dir(handle).output

    async def _discard(self, handle: Handle) -> None:
        """Remove what is kept here of a job."""
        path = self.job_dir(handle).path
        try:
            await job_threads.run(remove_tree, path)
        except OSError as error:
            log.warning("%s cannot be removed: %s", path, error)
