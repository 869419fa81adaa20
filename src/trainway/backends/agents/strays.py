"""Jobs that are in the home directory and of which the store knows nothing: it may be lost."""

import logging
import os
from collections.abc import Callable, Collection
from pathlib import Path

from trainway.backends.agents.jobdir import JobDir
from trainway.backends.base import Workload
from trainway.json_types import Json

log = logging.getLogger(__name__)


def read_strays(
    jobs: Path,
    known: Callable[[], Collection[str]],
    workload_of: Callable[[Json], Workload | None],
) -> list[Workload]:
    """The jobs that are not known; `workload_of` gives None for a plan of another backend."""
    # Looked at first: a job that is submitted meanwhile is known by then.
    found = _names(jobs)
    unknown = sorted(found.difference(known()))
    strays = (_workload(JobDir(jobs / name), workload_of) for name in unknown)
    return [workload for workload in strays if workload is not None]


def _names(folder: Path) -> set[str]:
    """What is in a folder; pathlib would take ten times as long for ten thousand jobs."""
    try:
        with os.scandir(folder) as entries:
            return {entry.name for entry in entries}
    except (FileNotFoundError, NotADirectoryError):
        return set()


def _workload(job: JobDir, workload_of: Callable[[Json], Workload | None]) -> Workload | None:
    """What was submitted; None if it cannot be read, or is another job's."""
    try:
        workload = workload_of(job.read_plan())
    except FileNotFoundError:
        return None
    except Exception as error:  # noqa: BLE001 - whatever was written there, the others count
        log.warning("%s is not a plan of Trainway: %r", job.plan, error)
        return None
    return workload if workload is not None and workload.id == job.path.name else None
