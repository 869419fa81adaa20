"""A run: several jobs that were submitted as one."""

import time
from collections.abc import Iterator

from trainway.json_types import Json
from trainway.sdk.job import Job
from trainway.sdk.rest import phase
from trainway.sdk.run_rest import RunRest


class Run:
    """A handle on the jobs of a sweep, an array or a pipeline; it has them by rank."""

    def __init__(self, rest: RunRest, data: Json, *, allow_pickle: bool = False) -> None:
        self._rest = rest
        self._data = data
        self._allow_pickle = allow_pickle

    @property
    def id(self) -> str:
        """What no other run shares."""
        return str(self._data["metadata"]["id"])

    @property
    def name(self) -> str:
        """The run's name; the newest run of a name is found by it."""
        return str(self._data["metadata"]["name"])

    @property
    def status(self) -> str:
        """Running while a job of it is not over, then Succeeded, Failed or Cancelled."""
        return phase(self.refresh())

    @property
    def jobs(self) -> list[Job]:
        """Its jobs, by rank; those that were deleted are missing."""
        found = self._data.get("jobs") or self.refresh()["jobs"]
        return [Job(self._rest, data, allow_pickle=self._allow_pickle) for data in found]

    def __iter__(self) -> Iterator[Job]:
        return iter(self.jobs)

    def __len__(self) -> int:
        return len(self.jobs)

    def refresh(self) -> Json:
        """The run as the server has it now."""
        self._data = self._rest.run(self.id)
        return self._data

    def wait(self, timeout: float | None = None) -> str:
        """Wait until all jobs have ended; the phase of the run."""
        deadline = None if timeout is None else time.monotonic() + timeout
        for job in self.jobs:
            job.wait(None if deadline is None else max(deadline - time.monotonic(), 0))
        return self.status

    def cancel(self) -> None:
        """End all jobs that have not ended."""
        self._data = self._rest.cancel_run(self.id)

    def delete(self, *, force: bool = False) -> None:
        """End all jobs and forget them, with their files."""
        self._rest.delete_run(self.id, force=force)

    def rerun(self, *, failed: bool = False, cancelled: bool = False, task: str = "") -> "Run":
        """Submit all jobs again, as a new run; or those that failed or were cancelled, in place.

        Of a pipeline: `task` and all tasks after it, in place. The run that the new jobs belong to;
        what they replace is no longer among its jobs.
        """
        data, _, _ = self._rest.rerun_run(self.id, failed=failed, cancelled=cancelled, task=task)
        return Run(self._rest, data, allow_pickle=self._allow_pickle)

    def __repr__(self) -> str:
        return f"Run({self.name!r}, {self.id!r})"
