"""Waits for the jobs of a run, with one question for all of them, however many they are."""

import sys
import time
from collections.abc import Callable, Iterator
from typing import Final, Protocol

from trainway.cli.output import echo_line
from trainway.cli.run_text import waiting_line
from trainway.errors import NotFoundError
from trainway.json_types import Json
from trainway.sdk.rest import is_terminal
from trainway.sdk.run_rest import RunRest

_PAUSE_S: Final = 0.5


class RunView(Protocol):
    """Somewhere to show a run while its jobs run."""

    def run(self, run: Json) -> None:
        """Its jobs have changed."""
        ...

    def close(self) -> None:
        """Leave the terminal to others. Showing something opens it again."""
        ...


class NoView:
    """Nothing is shown but how each job ends, and what a search waits for."""

    def __init__(self) -> None:
        self._told = ""

    def run(self, run: Json) -> None:
        """Say what is waited for, once."""
        line = waiting_line(run)
        if line and line != self._told:
            echo_line(line)
        self._told = line

    def close(self) -> None:
        """Nothing."""


def view_for_output() -> RunView:
    """A live table on a terminal."""
    if sys.stdout.isatty() and sys.stderr.isatty():
        from trainway.cli.run_table import RunTable  # noqa: PLC0415 - rich is slow to import

        return RunTable()
    return NoView()


def ended(
    rest: RunRest, run: Json, view: RunView, sleep: Callable[[float], None] = time.sleep
) -> Iterator[Json]:
    """The jobs, each when it has ended; one that was deleted comes as it was known last.

    A search has more of them until it is over.
    """
    left = {str(job["metadata"]["id"]): job for job in run["jobs"]}
    told: set[str] = set()
    while True:
        found = _found(rest, run["metadata"]["id"])
        now = {str(job["metadata"]["id"]): job for job in found.get("jobs", ())}
        left |= {id_: job for id_, job in now.items() if id_ not in told}
        over = [id_ for id_ in left if id_ not in now or is_terminal(now[id_])]
        for id_ in over:
            view.close()
            told.add(id_)
            yield _whole(rest, left.pop(id_))
        if not left and not _is_searching(found):
            return
        view.run({**run, **found})
        sleep(_PAUSE_S)


def _found(rest: RunRest, run_id: str) -> Json:
    """The run with its jobs in short; nothing of one that was deleted."""
    try:
        return rest.run(run_id)
    except NotFoundError:
        return {}


def _is_searching(run: Json) -> bool:
    """Whether it is a search that may have more trials."""
    return "search" in run and run["status"].get("search") is None


def _whole(rest: RunRest, job: Json) -> Json:
    try:
        return rest.get(job["metadata"]["id"])
    except NotFoundError:
        return job
