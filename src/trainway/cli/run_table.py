"""What `trainway run` shows of several jobs on a terminal: one table that is drawn again.

How jobs end scrolls by above it. Where the terminal is too low for all of them, those come first
that run.
"""

from collections.abc import Sequence
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from trainway.cli.job_text import utc_now
from trainway.cli.live_view import phase_text
from trainway.cli.pipeline_text import run_table
from trainway.cli.run_text import grouped, summary, waiting_line
from trainway.json_types import Json

_AROUND: Final = 6
"""How many lines of a terminal are not for jobs."""
_ORDER: Final = ("running", "paused", "waiting", "failed", "cancelled", "succeeded")
_REFRESHES_PER_S: Final = 4


class RunTable:
    """A region at the bottom of the terminal."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False, markup=False, emoji=False)
        self._live: Live | None = None

    def run(self, run: Json) -> None:
        """Draw the run as it is now."""
        drawn = drawing(run, max(self._console.height - _AROUND, 1))
        if self._live is None:
            self._live = Live(
                drawn,
                console=self._console,
                transient=True,
                refresh_per_second=_REFRESHES_PER_S,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()
        else:
            self._live.update(drawn, refresh=True)

    def close(self) -> None:
        """Take the region away."""
        if self._live is not None:
            self._live.stop()
            self._live = None


def drawing(run: Json, most: int) -> RenderableType:
    """A line about all jobs, and a table of as many of them as fit."""
    jobs = sorted(run["jobs"], key=_urgency)
    header, rows = run_table(run, jobs[:most], utc_now())
    table = Table.grid(padding=(0, 2))
    table.add_row(*(Text(name, "bold") for name in header))
    for row in rows:
        table.add_row(*_cells(header, row))
    more = [Text(f"and {len(jobs) - most} more")] if len(jobs) > most else []
    waiting = [Text(line) for line in filter(None, [waiting_line(run)])]
    return Group(Text(summary(run), "bold"), *waiting, table, *more)


def _cells(header: Sequence[str], row: Sequence[str]) -> list[Text]:
    return [
        phase_text(cell) if name == "PHASE" else Text(cell)
        for name, cell in zip(header, row, strict=True)
    ]


def _urgency(job: Json) -> int:
    (group,) = grouped({job["status"]["phase"]: 1})
    return _ORDER.index(group)
