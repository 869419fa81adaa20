"""A server with thousands of live jobs: what it needs, and how long a submission takes meanwhile.

The jobs are of a backend that runs nothing (`simulated_backend/`), which the server finds as it
finds any other package. Beside them real processes run on this machine. Several clients submit at
the same time.
"""

import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue

from installation import Installation, installed

from benchmarks import suite
from benchmarks.workbench import REPOSITORY, container_job, timed
from trainway.sdk.rest import Rest, Submission

LIVE, REAL, CLIENTS = 10_000, 500, 4
SLEEP_S = 20
MOST_SUBMIT_S, MOST_MB = 0.5, 500.0
PACKAGE = REPOSITORY / "benchmarks" / "simulated_backend"
ON = "simulated/cluster"
ENVIRON = {"PATH": "/usr/bin:/bin"}


@contextmanager
def managed() -> Iterator[Installation]:
    """An installation with the package of the backend, as pip would have put it there."""
    with tempfile.TemporaryDirectory(prefix="trainway-bench-") as name:
        site, home = Path(name) / "site", Path(name) / "home"
        shutil.copytree(PACKAGE, site / PACKAGE.name)
        info = site / "simulated_backend-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: simulated-backend\nVersion: 1.0\n"
        )
        row = f"simulated = {PACKAGE.name}:FAMILY"
        (info / "entry_points.txt").write_text(f"[trainway.families]\n{row}\n")
        home.mkdir()
        with installed(home, {"PYTHONPATH": str(site)}) as installation:
            yield installation


def live() -> Iterator[suite.Row]:
    """Submit, and look at the server when all jobs are under way."""
    with managed() as home:
        pid = home.server_pid()
        work: SimpleQueue[Submission] = SimpleQueue()
        every = LIVE // REAL
        for number in range(LIVE):
            work.put(simulated(number))
            if number % every == 0:
                work.put(real(number // every))
        taken = submitted(home, work)
        phases = home.get("/overview")["phases"]
        told = ", ".join(f"{count:,} {phase}" for phase, count in sorted(phases.items()) if count)
        middle, p99, worst = (taken[int(len(taken) * share) - 1] for share in (0.5, 0.99, 1))
        beside = f"median {middle:.3f} s, worst {worst:.3f} s, by {CLIENTS} clients; {told}"
        yield suite.Row(f"{len(taken):,} submissions, p99", p99, "s", MOST_SUBMIT_S, beside)
        yield suite.Row("memory of the server", resident_mb(pid), "MB", MOST_MB)
        yield suite.Row("jobs list", timed(lambda: home.run("jobs", "list")), "s")
        yield suite.Row("a job of processes, from submission to its end", ended(home), "s")


def submitted(home: Installation, work: "SimpleQueue[Submission]") -> list[float]:
    """How long each submission took, in order of that."""
    taken: list[float] = []

    def submit() -> None:
        while True:
            try:
                submission = work.get_nowait()
            except Empty:
                return
            began = time.perf_counter()
            home.ask(partial(Rest.submit, submission=submission))
            taken.append(time.perf_counter() - began)

    clients = [threading.Thread(target=submit) for _ in range(CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    return sorted(taken)


def simulated(number: int) -> Submission:
    """A job that runs until it is cancelled."""
    job = container_job(["true"])
    job["metadata"]["name"] = f"simulated-{number}"
    return Submission([job], {"backend": ON})


def real(number: int) -> Submission:
    """A job of this machine."""
    job = container_job(["sleep", str(SLEEP_S)])
    job["metadata"]["name"] = f"real-{number}"
    return Submission([job], {"backend": "local", "workdir": "/", "environ": ENVIRON})


def ended(home: Installation) -> float:
    """How long a job that does nothing takes, beside all others."""
    return timed(lambda: home.run("run", "--", "true"))


def resident_mb(pid: int) -> float:
    """What a process has in memory."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (kilobytes,) = (line.split()[1] for line in lines if line.startswith("VmRSS:"))
    return int(kilobytes) / 1000
