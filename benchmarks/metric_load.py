"""The measurements of metrics: reports of many jobs at once, a long series, and a long list.

Reports come in the two ways that there are: sent to the server itself, and in the journals of the
agents that training code reports to. An agent here is a connection only.
"""

import contextlib
import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import text

from benchmarks import suite
from benchmarks.local_load import multiply_job, resident_mb
from benchmarks.metric_agents import reporting_agents
from benchmarks.suite import Row, Rows
from benchmarks.workbench import REPOSITORY, median, scratch_home, timed, trainway
from trainway.engine.database import open_database
from trainway.engine.postgresql_testing import UnavailableError, running_postgresql
from trainway.json_types import Json

VALUES, LISTS, READS = 10, 5, 11
_PATIENCE_S = 120.0
_FILL = """
WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {points})
INSERT INTO metric_points (series_id, seq, step, epoch, time, value)
SELECT s.id, n, n, NULL, 1794744000.0 + n, 1.0 / n FROM metric_series s CROSS JOIN numbers
WHERE s.job_id LIKE '{jobs}'
"""
_SERIES = """
WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {series})
INSERT INTO metric_series (job_id, name, points, last_seq, last, minimum, maximum)
SELECT j.id, 'series-' || n, {points}, {points}, 1.0, 0.0, 1.0 FROM numbers CROSS JOIN jobs j
WHERE j.id LIKE '{jobs}'
"""


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    jobs: int = 100
    seconds: float = 30.0
    series: int = 100
    points: int = 10_000
    listed: int = 10_000
    full: int = 200
    """The series of a job that has no room for more."""


SHORT = Size(jobs=10, seconds=1.0, series=10, points=1_000, listed=100, full=10)


class Connection(http.client.HTTPConnection):
    """Over a unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=_PATIENCE_S)
        self._path = path

    def connect(self) -> None:
        """Open it."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(str(self._path))

    def ask(self, method: str, path: str, body: str | None = None) -> bytes:
        """The body of an answer that is as it should be."""
        headers = {"Content-Type": "application/json"}
        self.request(method, f"/api/v1{path}", body, headers)
        answer = self.getresponse()
        data = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{path}: {answer.status} {data[:200]!r}")
        return data


@dataclass(frozen=True)
class Served:
    """A server that runs."""

    pid: int
    socket: Path
    url: str

    def cpu_s(self) -> float:
        """How long it has used a core so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def served(url: str, folder: Path, jobs: int) -> Iterator[Served]:
    """A server with jobs that report to it, until it answers and then for a while."""
    path = folder / "server.sock"
    words = [sys.executable, "-m", "benchmarks.metric_server", url, str(path), str(jobs)]
    with subprocess.Popen(words, cwd=REPOSITORY) as process:
        try:
            deadline = time.monotonic() + _PATIENCE_S
            while True:
                try:
                    Connection(path).ask("GET", "/health")
                    break
                except OSError:
                    if process.poll() is not None or time.monotonic() > deadline:
                        raise SystemExit("the server does not answer") from None
                    time.sleep(0.05)
            yield Served(process.pid, path, url)
        finally:
            process.kill()


def report_metrics(step: int) -> Json:
    """A report of ten values."""
    metrics = [{"name": "step", "value": str(step)}]
    metrics += [{"name": f"m{number}", "value": f"0.{step}"} for number in range(VALUES)]
    return {"metrics": metrics, "lastUpdatedTime": datetime.now(UTC).isoformat()}


def report(step: int) -> str:
    """The body that reports them."""
    return json.dumps({"trainerStatus": report_metrics(step)})


def reports(server: Served, size: Size) -> Iterator[Row]:
    """Every job sends one report a second."""
    took: list[float] = []
    start = threading.Barrier(size.jobs + 1)

    def tell(number: int) -> None:
        connection = Connection(server.socket)
        job = json.loads(connection.ask("GET", f"/jobs/job-{number}"))["metadata"]["id"]
        start.wait()
        began = time.monotonic() + number / size.jobs
        for step in range(int(size.seconds)):
            time.sleep(max(0.0, began + step - time.monotonic()))
            took.append(timed(connection.ask, "POST", f"/jobs/{job}/progress", report(step)))

    threads = [threading.Thread(target=tell, args=(number,)) for number in range(size.jobs)]
    for thread in threads:
        thread.start()
    start.wait()
    cpu, began = server.cpu_s(), time.monotonic()
    for thread in threads:
        thread.join()
    share = (server.cpu_s() - cpu) / (time.monotonic() - began) * 100
    took.sort()
    beside = f"{len(took)} reports, median {median(took) * 1000:.1f} ms"
    yield Row("a report, p99", took[int(len(took) * 0.99)] * 1000, "ms", 20, beside)
    each = share * 10 * size.seconds / len(took)
    load = f"{each:.2f} ms of CPU a report; load average {os.getloadavg()[0]:.1f}"
    yield Row("server, of a core", share, "%", 30, load)
    yield Row("server, resident", resident_mb(server.pid), "MB", 150)


def journals(server: Served, size: Size) -> Iterator[Row]:
    """Every job reports once a second to its agent, whose journal the server reads."""
    with reporting_agents(server.socket.parent, size.jobs, report_metrics) as agents:
        agents.all_watched.wait(_PATIENCE_S)
        cpu, began = server.cpu_s(), time.monotonic()
        time.sleep(size.seconds)
        share = (server.cpu_s() - cpu) / (time.monotonic() - began) * 100
        beside = f"{agents.sent} reports in journals"
    yield Row("journals: server, of a core", share, "%", 30, beside)
    path = f"/jobs/job-{size.jobs - 1}/metrics?fields=summary"
    found = json.loads(Connection(server.socket).ask("GET", path))["summary"]["m0"]
    missing = max(0.0, size.seconds - 2 - found["step"])
    yield Row("journals: the last report, behind", missing, "s", 0, f"step {found['step']}")


def fill(url: str, series: int, points: int, jobs: str = "%") -> None:
    """Give every job, or those whose id is like that, so many series with so many points."""
    engine = open_database(url)
    with engine.begin() as connection:
        words = {"series": series, "points": points, "jobs": jobs}
        connection.execute(text(_SERIES.format(**words)))
        connection.execute(text(_FILL.format(**words)))
    engine.dispose()


def long_series(server: Served, size: Size) -> Iterator[Row]:
    """One series of a job that holds a million points."""
    path = "/jobs/job-0/metrics?series=series-7&resolution=1000"
    connection = Connection(server.socket)
    took = [timed(connection.ask, "GET", path) for _ in range(READS)]
    found = json.loads(connection.ask("GET", path))["series"]["series-7"]
    beside = f"{len(found)} of {size.series * size.points:,} points, worst {max(took):.3f} s"
    yield Row("a series at 1,000 points, p50", median(took) * 1000, "ms", 100, beside)


def on(database: str, size: Size) -> Iterator[Row]:
    """Both, on one kind of database."""
    with contextlib.ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="trainway-metrics-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        urls = [f"sqlite:///{folder}/{name}.db" for name in ("reports", "series", "journals")]
        if database == "postgresql":
            postgresql = stack.enter_context(running_postgresql())
            urls = [postgresql.new_database() for _ in urls]
        with served(urls[0], folder, size.jobs) as server:
            yield from _named(database, reports(server, size))
        (folder / "server.sock").unlink()
        with served(urls[2], folder, size.jobs) as server:
            yield from _named(database, journals(server, size))
        (folder / "server.sock").unlink()
        with served(urls[1], folder, 1) as server:
            fill(urls[1], size.series, size.points)
            yield from _named(database, long_series(server, size))


def _named(database: str, rows: Iterator[Row]) -> Iterator[Row]:
    for row in rows:
        yield Row(f"{database}: {row.what}", row.value, row.unit, row.limit, row.beside)


def listing(size: Size) -> Iterator[Row]:
    """`trainway jobs list` where every job has a history."""
    with scratch_home() as home:
        trainway("run", "--name", "finished", "--", "true")
        trainway("server", "stop")
        multiply_job(home / "trainway.db", size.listed)
        database = f"sqlite:///{home}/trainway.db"
        full = json.loads(trainway("jobs", "list", "-o", "json", "--limit", "1"))["items"][0]
        trainway("server", "stop")
        fill(database, 10, 100, "0%")
        fill(database, size.full, size.points, full["metadata"]["id"])
        trainway("jobs", "list")
        beside = f"{size.listed - 1:,} jobs of 10 series with 100 points, one of {size.full}"
        beside += f" with {size.points:,}"
        for words in ((), ("--metric", "series-7<0.5"), ("--metric", "series-7>0.5")):
            took = [timed(trainway, "jobs", "list", *words) for _ in range(LISTS)]
            what = " ".join(("trainway jobs list", *words))
            yield Row(f"{what}, p50", median(took), "s", 0.25, beside)
            beside = ""


MEASUREMENTS: dict[str, Callable[[Size], Iterator[Row]]] = {
    "sqlite": lambda size: on("sqlite", size),
    "postgresql": lambda size: on("postgresql", size),
    "list": listing,
}


def main(words: list[str]) -> int:
    """Print the figures; the exit status says whether all limits are kept."""
    size = SHORT if "--short" in words else Size()

    def rows(chosen: list[Callable[[Size], Iterator[Row]]]) -> Rows:
        for measure in chosen:
            yield from measure(size)

    names = [word for word in words if word != "--short"]
    return suite.run(names, MEASUREMENTS, rows, UnavailableError)
