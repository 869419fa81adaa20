"""Every page of the dashboard, read from the dashboard's own tables: a new page is in here too.

The tests that hold for all pages and `make screenshots` go through this list.
"""

import re
from dataclasses import dataclass
from typing import Final

from environments import REPOSITORY

GROUP: Final = (
    "{name: actors, execution: parallel, primary_tasks: [learner]}\n---\n"
    "{name: learner, num_nodes: 2, run: 'true'}\n---\n{name: replay, run: sleep 600}\n"
)
"""A job group that ends with its primary task."""
_SOURCES: Final = REPOSITORY / "dashboard/src"
_ENTRY: Final = re.compile(r'\{ path: "([^"]+)", title: "([^"]+)"')
_TAB: Final = re.compile(r'\{ id: "([^"]+)", title: "([^"]+)"')


@dataclass(frozen=True)
class PageEntry:
    """A page, and where it is below `/dashboard`."""

    name: str
    path: str


def navigation_pages() -> list[PageEntry]:
    """The pages of the navigation, in its order."""
    found = _ENTRY.findall((_SOURCES / "shell/navigation.ts").read_text())
    assert found, "navigation.ts is not written as it was"
    return [PageEntry(path.strip("/") or "overview", path) for path, _ in found]


def job_pages(job: str) -> list[PageEntry]:
    """The tabs of a job's page."""
    found = _TAB.findall((_SOURCES / "pages/job/JobTabs.tsx").read_text())
    assert found, "JobTabs.tsx is not written as it was"
    return [PageEntry(f"job-{tab}", f"/jobs/{job}?tab={tab}") for tab, _ in found]


def all_pages(job: str, compared: str, group: str) -> list[PageEntry]:
    """All, with a job, jobs to compare and a job group; `examples/pipeline.yaml` has run."""
    return [
        *navigation_pages(),
        PageEntry("schedules-new", "/schedules/new"),
        PageEntry("queue", "/queues/default"),
        PageEntry("pipeline", "/pipelines/squares"),
        PageEntry("job-group", f"/pipelines/groups/{group}"),
        PageEntry("compare-jobs", f"/compare?jobs={compared}"),
        *job_pages(job),
    ]
