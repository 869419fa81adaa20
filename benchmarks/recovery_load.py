"""The measurements of `benchmarks/recovery.py`: from a loss to the next attempt that runs.

The hosts are namespaces of this machine with an sshd each, as in the tests (`test/ssh_hosts`); that
needs root. `power` switches a host off, `cable` pulls its cable, so that nothing on it ends, and
`rank` kills the process of a local job. What counts is when processes of the next attempt report at
a gate (`test/e2e/gate.py`), and when the journal of the job says that its host was lost, which is
when the pool agent has noticed. Each is done several times; `quick` does it once. SkyPilot polls
every 15 s and begins to recover after 15 to 75 s; then it makes a whole cluster anew.
"""

import contextlib
import json
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gate import Gate, opened
from installation import Installation, installed
from ssh_pool import ON, SshPool, pool_of
from switch import UnavailableError

from benchmarks import suite
from benchmarks.suite import Row, Rows
from benchmarks.workbench import median
from ssh_hosts import Host, SshHosts
from trainway.jobset.status import moment
from trainway.json_types import Json

HOSTS, NODES = 4, 2
TIMES, QUICK_TIMES = 5, 1
MOST_NOTICED_S, MOST_ELSEWHERE_S, MOST_RANK_S = 10.0, 3.0, 1.0


@dataclass(frozen=True)
class Loss:
    """One loss, in seconds."""

    noticed: float
    """From the loss to the moment at which the job is told to begin anew."""
    elsewhere: float
    """From that moment to the last process of the next attempt."""


def main(arguments: list[str]) -> int:
    """Measure, print, judge."""
    times = QUICK_TIMES if "quick" in arguments else TIMES
    names = [name for name in arguments if name != "quick"]
    return suite.run(names, MEASUREMENTS, lambda chosen: rows(chosen, times), UnavailableError)


def rows(chosen: Sequence[Callable[[int], Rows]], times: int) -> Rows:
    """Each where it belongs."""
    for measure in chosen:
        yield from measure(times)


def power(times: int) -> Rows:
    """Hosts that are switched off."""
    yield from lost_hosts("switched off", times, Host.halt, Host.boot)


def cable(times: int) -> Rows:
    """Hosts that nobody hears any more, though they go on."""
    yield from lost_hosts("cut off", times, Host.cut, Host.heal)


def lost_hosts(
    how: str, times: int, lose: Callable[[Host], None], mend: Callable[[Host], None]
) -> Rows:
    """A gang whose first host goes away, again and again."""
    with a_pool() as (pool, gate):
        losses = [lost_host(pool, gate, lose, mend) for _ in range(times)]
    for what, values, limit in (
        ("noticed", [each.noticed for each in losses], MOST_NOTICED_S),
        ("then running elsewhere", [each.elsewhere for each in losses], MOST_ELSEWHERE_S),
    ):
        beside = f"median {median(values):.2f}"
        yield Row(f"host {how}: {what}, worst of {times}", max(values), "s", limit, beside)


def lost_host(
    pool: SshPool, gate: Gate, lose: Callable[[Host], None], mend: Callable[[Host], None]
) -> Loss:
    """One job that loses one host."""
    job = pool.submit_here("--nodes", str(NODES), "--", *gate.command("node"))
    for _ in range(NODES):
        gate.next()
    off = next(iter(pool.hosts_of(job).values()))
    began = time.time()
    lose(off)
    visitors = [gate.next() for _ in range(NODES)]
    runs = time.time()
    mend(off)
    for visitor in visitors:
        visitor.let_go()
    pool.run("jobs", "wait", job)
    noticed = noticed_at(pool.home / "jobs" / job / "journal.jsonl")
    pool.run("jobs", "delete", job)
    settle(pool)
    return Loss(noticed - began, runs - noticed)


def noticed_at(journal: Path) -> float:
    """When the placement was given up, as the journal of the job says."""
    records: list[Json] = [json.loads(line) for line in journal.read_text().splitlines()]
    leaving = next(record for record in records if record.get("leaving"))
    return moment(str(leaving["time"])).timestamp()


def settle(pool: SshPool) -> None:
    """Wait until every host can be used again: the next loss must not meet the last one."""
    while True:
        (place,) = json.loads(pool.run("nodes", "list", "--on", ON, "-o", "json"))
        aside = [node["name"] for node in place["nodes"] if node["drained"]]
        for name in aside:
            pool.run("nodes", "undrain", name, "--on", ON)
        if not aside and all(node["state"] == "up" for node in place["nodes"]):
            return
        time.sleep(0.2)


def rank(times: int) -> Rows:
    """A local gang one of whose processes is killed."""
    with (
        tempfile.TemporaryDirectory(prefix="trainway-bench-") as home,
        installed(Path(home)) as here,
        opened() as gate,
    ):
        values = [killed_rank(here, gate) for _ in range(times)]
    beside = f"median {median(values):.2f}"
    what = f"local rank killed: next attempt runs, worst of {times}"
    yield Row(what, max(values), "s", MOST_RANK_S, beside)


def killed_rank(here: Installation, gate: Gate) -> float:
    """From the signal to the last process of the next attempt."""
    job = here.submit("--restarts", "1", "--nodes", str(NODES), "--", *gate.command("node"))
    first = [gate.next() for _ in range(NODES)]
    began = time.time()
    os.kill(first[0].pid, signal.SIGKILL)
    second = [gate.next() for _ in range(NODES)]
    passed = time.time() - began
    for visitor in second:
        visitor.let_go()
    here.run("jobs", "wait", job)
    return passed


@contextlib.contextmanager
def a_pool() -> Iterator[tuple[SshPool, Gate]]:
    """Hosts, a pool of them, and where processes report; at the end nothing of it is left."""
    with (
        SshHosts(HOSTS) as hosts,
        tempfile.TemporaryDirectory(prefix="trainway-bench-") as home,
        pool_of(hosts, Path(home) / "home") as pool,
        opened() as gate,
    ):
        yield pool, gate


MEASUREMENTS = {"power": power, "cable": cable, "rank": rank}
