"""The measurements of the dashboard: a long list, a long log, and the queries behind the list.

The time to an interactive list is that from the navigation to /dashboard/jobs, in a browser that is
open and has nothing in its caches, until rows are drawn, the filters are there and a key has moved
the focus to a row. Scrolling is a jump to anywhere in the list, until every row in sight is drawn;
filtering is a change of a filter, until the rows in sight are those of the answer. Each is asked
for what was not asked before, so that nothing comes from the page's own memory. Server and browser
share two cores.
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from sqlalchemy import Engine

from benchmarks import suite
from benchmarks.cpu_load import Load
from benchmarks.dashboard_browser import UnavailableError, Visit, Visitor, visitor
from benchmarks.job_fill import BACKENDS, MODELS, TEAMS, USERS, Template, fill, template_of
from benchmarks.suite import Row, Rows
from benchmarks.workbench import median, scratch_home, timed, trainway
from trainway.engine import job_window, postgresql_testing
from trainway.engine.database import open_database
from trainway.engine.ids import before
from trainway.engine.job_filter import Filter, LabelTerm, label_terms, metric_terms
from trainway.engine.job_window import Order, Window, WindowStore
from trainway.engine.phases import Phase
from trainway.jobset.labels import USER

Find = Callable[[Filter, Window], job_window.Rows]
CORES: Final = 2
REPEATED: Final = 5
JUMPS: Final = (0.5, 0.93, 0.12, 0.71, 0.34, 0.99, 0.05, 0.62, 0.25, 0.81)
"""Where the scroll bar is dragged to, as parts of the list."""
FILTERS: Final[dict[str, tuple[str, str, tuple[str, ...]]]] = {
    "state": ("set", "Phase", ("Failed", "Cancelled", "Succeeded")),
    "name": ("type", "Name", tuple(name[:4] for name in MODELS[:5])),
    "label": ("enter", "Labels", tuple(f"team={name}" for name in TEAMS)),
    "backend": ("set", "Backend", ("local",)),
    "kind": ("set", "Kind", ("TrainJob", "MPIJob", "JobSet")),
    "user": ("enter", "User", USERS[:5]),
    "time": ("set", "Submitted", ("1d", "7d", "30d")),
    "metric": ("enter", "Metric", ("loss<0.5", "loss>0.9", "accuracy<0.1", "loss<0.25")),
}
"""By what the list is filtered: how, in which field, and the values that are tried."""
_LINE: Final = b"2026-11-17T%02d:%02d:%02d.%06dZ o step %08d loss 0.123456 lr 1e-4 %s\n"


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    lists: tuple[tuple[int, float], ...] = ((10_000, 0.8), (100_000, 1.2))
    """How many jobs there are, and in how many seconds their list has to be there."""
    visits: int = 10
    log_bytes: int = 1_000_000_000
    jumps: int = len(JUMPS)


SHORT = Size(lists=((500, 0.8),), visits=1, log_bytes=10_000_000, jumps=2)


@contextlib.contextmanager
def finished_job() -> Iterator[Path]:
    """A home in which one job ran, whose server has ended."""
    with scratch_home() as home:
        trainway("run", "--name", "finished", "--", "echo", "done")
        trainway("server", "stop")
        yield home


def lists(size: Size) -> Iterator[Row]:
    """The page of all jobs, with few and with many of them."""
    for count, limit in size.lists:
        with finished_job() as home:
            engine = open_database(f"sqlite:///{home}/trainway.db")
            fill(engine, template_of(engine), count)
            engine.dispose()
            with visitor() as opened:
                yield from _named(f"{count:,} jobs", _list(opened, size, limit))


def _list(opened: Visitor, size: Size, limit: float) -> Iterator[Row]:
    sizes, took, load = opened.bytes("/jobs"), [], Load()
    for _ in range(size.visits):
        with opened.visit("/jobs") as visit:
            took.append(visit.until("operable"))
    beside = f"{min(took):.3f} to {max(took):.3f} s; {load.text(size.visits)}"
    yield Row("an interactive list, p50", median(took), "s", limit, beside)
    yield Row("first view, JavaScript", sizes["Script"] / 1000, "kB", 250)
    kinds = ", ".join(f"{kind} {count / 1000:.0f}" for kind, count in sizes.most_common())
    yield Row("first view, in all", sizes.total() / 1000, "kB", 500, kinds)
    with opened.visit("/jobs") as visit:
        visit.until("operable")
        yield _scrolling(visit, size)
        for name in FILTERS:
            yield _filtering(visit, name)


def _scrolling(visit: Visit, size: Size) -> Row:
    height = visit.page.locator(".tw-job-table").evaluate("(table) => table.scrollHeight")
    took = [visit.act("scroll", int(part * height))[0] for part in JUMPS[: size.jumps]]
    visit.act("scroll", 0)
    return Row("scrolling anywhere, p50", median(took), "ms", 100, f"worst {max(took):.0f} ms")


def _filtering(visit: Visit, name: str) -> Row:
    act, field, values = FILTERS[name]
    took, counts = [], []
    for value in values:
        spent, count = visit.act(act, [field, value])
        took.append(spent)
        counts.append(f"{count:,}")
        visit.act(act, [field, ""])
    beside = f"worst {max(took):.0f} ms; rows: {', '.join(counts)}"
    return Row(f"filter by {name}, p50", median(took), "ms", 100, beside)


def log(size: Size) -> Iterator[Row]:
    """A job whose log is very long."""
    with finished_job() as home:
        (path,) = home.glob("jobs/*/logs/*.log")
        _write_log(path, size.log_bytes)
        job = path.parent.parent.name
        with visitor() as opened:
            took, sizes, load = [], [], Load()
            for _ in range(size.visits):
                with opened.visit(f"/jobs/{job}?tab=logs") as visit:
                    took.append(visit.until("lines"))
                    visit.page.mouse.move(700, 600)
                    for delta in (-3_000, -3_000, 3_000):
                        visit.page.mouse.wheel(0, delta)
                        visit.page.wait_for_timeout(100)
                    sizes.append(max(opened.renderers().values()))
            beside = f"{min(took):.3f} to {max(took):.3f} s; {load.text(size.visits)}"
            what = f"a log of {size.log_bytes / 1e9:g} GB"
            yield Row(f"{what} opens, p50", median(took), "s", 1.0, beside)
            yield Row(f"{what}: the tab, at most", max(sizes), "MB", 300)


def _write_log(path: Path, size: int) -> None:
    """Write lines whose times go on, as an agent does."""
    padding, written, number = b"x" * 40, 0, 0
    with path.open("wb") as file:
        while written < size:
            hour, minute, second = number // 3_600 % 24, number // 60 % 60, number % 60
            lines = (
                _LINE % (hour, minute, second, place, number * 20_000 + place, padding)
                for place in range(20_000)
            )
            written += file.write(b"".join(lines))
            number += 1


def queries(size: Size, database: str) -> Iterator[Row]:
    """The store alone: the ids and the rows of a window, by each filter and each order."""
    count = size.lists[-1][0]
    with contextlib.ExitStack() as stack:
        home = stack.enter_context(finished_job())
        engine = open_database(f"sqlite:///{home}/trainway.db")
        template = template_of(engine)
        if database == "postgresql":
            engine.dispose()
            server = stack.enter_context(postgresql_testing.running_postgresql())
            engine = open_database(server.new_database())
        stack.callback(engine.dispose)
        yield from _named(f"{database}, {count:,} jobs", _windows(engine, template, count))


def _windows(engine: Engine, template: Template, count: int) -> Iterator[Row]:
    fill(engine, template, count)
    week = before(datetime.now(UTC) - timedelta(days=7))
    wanted = {
        "no filter": Filter(),
        "state": Filter(phases=[Phase.FAILED]),
        "name": Filter(text=MODELS[0][:4]),
        "label": Filter(labels=label_terms([f"team={TEAMS[0]}"])),
        "backend": Filter(backend=BACKENDS[0]),
        "kind": Filter(kind="TrainJob"),
        "user": Filter(labels=[LabelTerm(USER, USERS[0])]),
        "time": Filter(after=week),
        "metric": Filter(metrics=metric_terms(["loss<0.5"])),
    }
    windows, far = WindowStore(engine), count // 2
    for name, filter_ in wanted.items():
        yield _window(f"runs, {name}", windows, windows.groups, filter_, Window())
    yield _window("runs, far down", windows, windows.groups, Filter(), Window(far))
    for name, filter_ in wanted.items():
        yield _window(f"jobs, {name}", windows, windows.jobs, filter_, Window())
    for order in Order:
        window = Window(far, order=order)
        yield _window(f"by {order}, far down", windows, windows.jobs, Filter(), window)


def _window(what: str, windows: WindowStore, find: Find, wanted: Filter, window: Window) -> Row:
    cpu = time.process_time()
    took = [timed(lambda: windows.read(find(wanted, window).ids)) * 1000 for _ in range(REPEATED)]
    used = (time.process_time() - cpu) / REPEATED * 1000
    return Row(f"{what}, p50", median(took), "ms", None, f"{used:.1f} ms of CPU in this process")


def _named(prefix: str, rows: Iterator[Row]) -> Iterator[Row]:
    for row in rows:
        yield Row(f"{prefix}: {row.what}", row.value, row.unit, row.limit, row.beside)


MEASUREMENTS: dict[str, Callable[[Size], Iterator[Row]]] = {
    "lists": lists,
    "log": log,
    "sqlite": lambda size: queries(size, "sqlite"),
    "postgresql": lambda size: queries(size, "postgresql"),
}


def main(words: list[str]) -> int:
    """Print the figures; the exit status says whether all limits are kept."""
    size = SHORT if "--short" in words else Size()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])

    def rows(chosen: list[Callable[[Size], Iterator[Row]]]) -> Rows:
        for measure in chosen:
            yield from measure(size)

    names = [word for word in words if word != "--short"]
    unavailable = (UnavailableError, postgresql_testing.UnavailableError)
    return suite.run(names, MEASUREMENTS, rows, unavailable)
