"""What running jobs on SSH hosts costs; `python benchmarks/ssh.py` measures it.

The hosts are four namespaces of this machine with an sshd each, as in the tests
(`test/ssh_hosts`); that needs root. Each line has what was measured, the limit it must keep, and
what it is compared with. Exit status 1 if a limit was missed. Names choose some of the
measurements: latency, drain.
"""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from gate import opened
from ssh_pool import pool_of
from switch import UnavailableError

from benchmarks import suite
from benchmarks.suite import Measurement, Row, Rows
from benchmarks.workbench import Doorbell, container_job, median, timed, trainway
from ssh_hosts import SshHosts

HOSTS, JOBS, WARM = 4, 200, 20
ON = "ssh/test"
IDLE_LIMIT_S = 0.5


def main(names: list[str]) -> int:
    """Measure, print, judge."""
    return suite.run(names, MEASUREMENTS, rows, UnavailableError)


def rows(chosen: list[Measurement]) -> Rows:
    """Each on hosts of its own."""
    for measure in chosen:
        with pool():
            yield from measure()


@contextlib.contextmanager
def pool() -> Iterator[None]:
    """Hosts that are the pool `test`, and a home directory for this process and its commands."""
    with SshHosts(HOSTS) as hosts, tempfile.TemporaryDirectory(prefix="trainway-bench-") as folder:
        os.environ["TRAINWAY_HOME"] = folder
        with pool_of(hosts, Path(folder)):
            yield


def latency() -> Iterator[Row]:
    """From the submission to the moment when the user's own process runs on a host."""
    from trainway import Client  # noqa: PLC0415 (not needed for the rest)

    bell = Doorbell()
    client = Client()

    def by_sdk() -> None:
        client.run(container_job(bell.command), on=ON)
        bell.wait()

    cold = timed(by_sdk)
    yield Row("submit to first process, cold pool", cold, "s", None, "with the agents' start")
    warm = [timed(by_sdk) for _ in range(WARM)]
    worst = f"worst of {WARM}: {max(warm):.3f} s"
    yield Row("submit to first process, warm pool, p50", median(warm), "s", 0.3, worst)


def drain() -> Iterator[Row]:
    """One-line jobs that wait for four hosts, each of which runs one at a time."""
    from trainway import Client  # noqa: PLC0415 (not needed for the rest)

    client = Client()
    folder = Path(os.environ["TRAINWAY_HOME"])
    marks = folder / "marks"
    stamp = "$(uname -n) $(date +%s.%N)"
    line = f'began="{stamp}"; echo "$began $(date +%s.%N)" >> {marks}'

    def queued(command: list[str]) -> str:
        job = container_job(command)
        pod = job["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
        pod["containers"][0]["resources"] = {"requests": {"cpu": "2"}}
        return client.run(job, on=ON).id

    with opened() as gate:
        holders = [queued(gate.command("holder")) for _ in range(HOSTS)]
        visitors = [gate.next() for _ in holders]
        jobs = [queued(["/bin/sh", "-c", line]) for _ in range(JOBS)]
        for visitor in visitors:
            visitor.let_go()
        took = timed(trainway, "jobs", "wait", *holders, *jobs)

    runs = [read(text) for text in marks.read_text().splitlines()]
    last_start = sorted(began for _, began, _ in runs)[-HOSTS]
    gaps = [
        later - ended
        for host in {host for host, _, _ in runs}
        for (ended, later) in idle(runs, host)
        if later <= last_start  # afterwards nothing waits any more
    ]
    beside = f"p50 {median(gaps):.3f} s; {len(runs)} jobs on {HOSTS} hosts in {took:.1f} s"
    yield Row("host idle while jobs wait, longest", max(gaps), "s", IDLE_LIMIT_S, beside)


def read(line: str) -> tuple[str, float, float]:
    """The host of a run, its begin and its end."""
    host, began, ended = line.split()
    return host, float(began), float(ended)


def idle(runs: list[tuple[str, float, float]], host: str) -> list[tuple[float, float]]:
    """When a host had nothing to do: from the end of a run to the begin of the next."""
    there = sorted((began, ended) for name, began, ended in runs if name == host)
    return [(ended, later) for (_, ended), (later, _) in pairwise(there)]


MEASUREMENTS: dict[str, Measurement] = {"latency": latency, "drain": drain}
