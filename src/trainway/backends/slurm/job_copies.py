"""The jobs of a cluster that are copied here, of which only so many have their files open at once.

A job that is not written to for a while loses its place to others, and opens its files again when
something comes.
"""

from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from trainway.backends.agents.agent_socket import AgentError
from trainway.backends.slurm.job_copy import JobCopy

OPEN_COPIES: Final = 64


class JobCopies:
    """The copies by the id of their job."""

    def __init__(self) -> None:
        self._copies: dict[str, JobCopy] = {}
        self._open: OrderedDict[str, None] = OrderedDict()

    def __iter__(self) -> Iterator[JobCopy]:
        return iter(list(self._copies.values()))

    def get(self, job_id: str) -> JobCopy | None:
        """The copy of a job, if there is one."""
        return self._copies.get(job_id)

    def begun(self, job_id: str, directory: Path) -> JobCopy:
        """The copy of a job, which begins now if there is none."""
        copy = self._copies.get(job_id)
        if copy is None:
            if not directory.is_dir():
                raise AgentError(f"job {job_id} has no directory here")
            copy = self._copies[job_id] = JobCopy(job_id, directory)
            self.touch(copy)
        return copy

    def touch(self, copy: JobCopy) -> None:
        """A job's files are in use; those of others are closed when there are too many."""
        self._open[copy.id] = None
        self._open.move_to_end(copy.id)
        for job_id in list(self._open)[: max(0, len(self._open) - OPEN_COPIES)]:
            other = self._copies.get(job_id)
            if other is None or not other.is_receiving:
                del self._open[job_id]
                if other is not None:
                    other.release()

    def close(self, copy: JobCopy) -> None:
        """Nothing more is written to a copy."""
        self._copies.pop(copy.id, None)
        self._open.pop(copy.id, None)
        copy.release()
