"""What `trainway run` shows while a job runs, where the output is no terminal: lines.

Logs go to stdout and what happens to the job to stderr, so that either can be kept. `live_view` has
the other view; both are told the same things by `following`.
"""

import sys
from collections.abc import Sequence
from typing import Protocol

from trainway.cli.log_text import LogText
from trainway.cli.output import echo, echo_line
from trainway.json_types import Json
from trainway.sdk.log_line import LogLine
from trainway.sdk.rest import is_terminal


class View(Protocol):
    """Somewhere to show a job that runs."""

    def job(self, job: Json) -> None:
        """The job has changed."""
        ...

    def logs(self, lines: Sequence[LogLine]) -> None:
        """Its containers have written something."""
        ...

    def close(self) -> None:
        """Leave the terminal to others. Showing something opens it again."""
        ...


class PlainView:
    """Lines, one after the other."""

    def __init__(self) -> None:
        self._text = LogText(colourful=False)
        self._said = ""

    def job(self, job: Json) -> None:
        """A line for each new phase; what there is to say at the end is said elsewhere."""
        status = job["status"]
        if is_terminal(job):
            return
        message = f": {status['message']}" if status.get("message") else ""
        line = f"{job['metadata']['name']}: {status['phase']}{message}"
        if line != self._said:
            self._said = line
            echo_line(line)

    def logs(self, lines: Sequence[LogLine]) -> None:
        """The lines, with who wrote them."""
        echo(self._text.lines(lines))

    def close(self) -> None:
        """Complete the last line."""
        echo(self._text.rest())


def view_for_output() -> View:
    """Live on a terminal, else plain."""
    if sys.stdout.isatty() and sys.stderr.isatty():
        from trainway.cli.live_view import LiveView  # noqa: PLC0415 - rich is slow to import

        return LiveView()
    return PlainView()
