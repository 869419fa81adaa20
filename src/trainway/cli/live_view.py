"""What `trainway run` shows on a terminal: the logs scroll by above the state of the job.

The state (phase, a line per node, progress) stays at the bottom, where it can be drawn again, and
the logs keep their place in the terminal's history.
"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from trainway.cli.colours import PHASES, is_colourful
from trainway.cli.job_text import node_exit, node_name, node_reason
from trainway.cli.log_text import LogText
from trainway.cli.times import clock
from trainway.cli.usage_text import usage_line
from trainway.counting import counted
from trainway.json_types import Json
from trainway.sdk.log_line import LogLine

_STYLES: Final = {
    "90": "bright_black",
    "31": "red",
    "32": "green",
    "33": "yellow",
    "34": "blue",
    "35": "magenta",
    "36": "cyan",
}
_MOST_NODES: Final = 8
_BAR_WIDTH: Final = 40
_REFRESHES_PER_S: Final = 4


class LiveView:
    """A region at the bottom of the terminal, and everything else above it."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False, markup=False, emoji=False)
        self._text = LogText(colourful=is_colourful(self._console.file), joined=False)
        self._state = JobState()
        self._live: Live | None = None

    def job(self, job: Json) -> None:
        """Draw the new state."""
        self._state.update(job)
        self._open().refresh()

    def logs(self, lines: Sequence[LogLine]) -> None:
        """Put the lines above the region."""
        self._open()
        text = self._text.lines(lines).removesuffix("\n")
        self._console.print(Text.from_ansi(text), soft_wrap=True)

    def close(self) -> None:
        """Take the region away."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _open(self) -> Live:
        if self._live is None:
            self._live = Live(
                self._state,
                console=self._console,
                transient=True,
                refresh_per_second=_REFRESHES_PER_S,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()
        return self._live


class JobState:
    """Draws the last known state of a job, with the time that has passed since."""

    def __init__(self, clock_s: Any = time.monotonic) -> None:
        self._clock = clock_s
        self._job: Json = {}
        self._phase_since = clock_s()

    def update(self, job: Json) -> None:
        """Take note of the job."""
        if not self._job or job["status"]["phase"] != self._job["status"]["phase"]:
            self._phase_since = self._clock()
        self._job = job

    def __rich__(self) -> RenderableType:
        return Group(*self._parts()) if self._job else Text("")

    def _parts(self) -> Iterator[RenderableType]:
        metadata, status = self._job["metadata"], self._job["status"]
        passed = clock(self._clock() - self._phase_since)
        head = Text.assemble(
            (metadata["name"], "bold"), "  ", phase_text(status["phase"]), f"  {passed}"
        )
        if status.get("restarts"):
            head.append(f"  {counted(status['restarts'], 'restart')}", "yellow")
        if status.get("message"):
            head.append(f"  {status['message']}", "bright_black")
        yield head
        nodes = status.get("nodes") or []
        if nodes:
            yield _nodes(nodes)
        if status.get("progress"):
            yield _progress(status["progress"])


def phase_text(phase: str) -> Text:
    """A phase in its colour."""
    return Text(phase, _STYLES.get(PHASES.get(phase, ""), ""))


def _nodes(nodes: Sequence[Json]) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    for node in nodes[:_MOST_NODES]:
        more = [counted(node["restarts"], "restart")] if node.get("restarts") else []
        more += [f"exit {node_exit(node)}"] if node_exit(node) not in ("", "0") else []
        more += [node_reason(node)] if node_reason(node) else []
        used = Text(usage_line(node), "bright_black")
        phase = phase_text(node.get("phase") or "")
        grid.add_row("", node_name(node), phase, used, ", ".join(more))
    rest = Counter(node.get("phase") for node in nodes[_MOST_NODES:])
    if rest:
        counts = ", ".join(f"{count} {phase}" for phase, count in rest.most_common())
        grid.add_row("", "...", Text(f"and {counts}"), "", "")
    return grid


def _progress(progress: Json) -> RenderableType:
    percent = progress.get("progressPercentage")
    left = progress.get("estimatedRemainingSeconds")
    metrics = [f"{metric['name']} {metric['value']}" for metric in progress.get("metrics") or ()]
    cells: list[RenderableType] = [""]
    if percent is not None:
        cells += [ProgressBar(total=100, completed=percent, width=_BAR_WIDTH), f"{percent:g} %"]
    if left is not None:
        cells.append(f"{clock(left)} left")
    cells.append(Text("  ".join(metrics), "bright_black"))
    grid = Table.grid(padding=(0, 2))
    grid.add_row(*cells)
    return grid
