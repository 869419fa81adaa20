"""The measurements of `benchmarks/elastic.py`: steps per second through 4, 3 and 4 nodes.

A real torch job (`examples/elastic_ddp.py`, gloo) runs on four hosts, which are namespaces of this
machine with an sshd each; that needs root. The cable of the last host is pulled, and put back when
steps were done with three. Nothing may be restarted: that is the limit. How long nobody trains
depends on the timeout of the script (20 s), which is how torch notices a host that is cut off, and
on how long torch takes to be imported.
"""

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from environments import TORCH, environment
from ssh_pool import SshPool, pool_of
from switch import UnavailableError

from benchmarks import suite
from benchmarks.suite import Row, Rows
from benchmarks.workbench import REPOSITORY
from ssh_hosts import SshHosts

NODES = 4
STEPS = 300
"""How many steps a rate is taken over."""
LINE = re.compile(r"step (\d+) nodes (\d+) ")


@dataclass(frozen=True)
class Mark:
    """A step that was reported."""

    at: float
    step: int
    nodes: int


def main(arguments: list[str]) -> int:
    """Measure, print, judge."""
    return suite.run(arguments, {"ssh": on_hosts}, rows, UnavailableError)


def rows(chosen: Sequence[Callable[[], Iterator[Row]]]) -> Rows:
    """One after the other."""
    for measurement in chosen:
        yield from measurement()


def on_hosts() -> Iterator[Row]:
    """Four hosts, of which one is cut off for a while."""
    imports = os.pathsep.join(str(REPOSITORY / name) for name in ("examples", "test/e2e"))
    variables = environment(*TORCH).variables()
    with (
        SshHosts(NODES) as hosts,
        tempfile.TemporaryDirectory(prefix="trainway-bench-") as name,
        pool_of(hosts, Path(name, "home"), variables, {"PYTHONPATH": imports}) as pool,
    ):
        folder = Path(name, "folder")
        folder.mkdir()
        yield from through_a_loss(pool, folder)


def through_a_loss(pool: SshPool, folder: Path) -> Iterator[Row]:
    """4, 3 and 4 nodes, and what the changes cost."""
    words = ["--nodes", f"2:{NODES}", "--procs-per-node", "1", "--env", "OMP_NUM_THREADS=1"]
    program = ["test/e2e/paced_elastic.py", "--", str(folder), "--pause", "0.01", "--timeout", "20"]
    began = time.monotonic()
    job = pool.submit_here(*words, *program)
    with pool.follow_logs(job) as log:
        first = steps(log, NODES)
        yield Row("start to the first steps of 4 nodes", first[0].at - began, "s")
        yield Row("4 nodes", rate(first), "/s", None, "steps per second")
        lost = pool.hosts_of(job)[f"node-0-{NODES - 1}"]
        pool.hosts.cut(lost)
        cut = time.monotonic()
        fewer = steps(log, NODES - 1)
        again = f"steps {first[-1].step} to {fewer[0].step - 10} done or done again meanwhile"
        yield Row("cable pulled to steps of 3 nodes", fewer[0].at - cut, "s", None, again)
        yield Row("3 nodes", rate(fewer), "/s", None, "steps per second")
        pool.hosts.heal(lost)
        healed = time.monotonic()
        last = steps(log, NODES)
        yield Row("cable put back to steps of 4 nodes", last[0].at - healed, "s")
        yield Row("4 nodes again", rate(last), "/s", None, "steps per second")
        (folder / "finish").touch()
    pool.run("jobs", "wait", job)
    status = pool.job(job)["status"]
    yield Row("restarts of the job", float(status["restarts"]), "", 0.0, str(status["phase"]))


def steps(log: subprocess.Popen[str], nodes: int) -> list[Mark]:
    """Read on until enough steps in a row were done with so many nodes."""
    marks: list[Mark] = []
    for line in log.stdout or ():
        found = LINE.search(line)
        if found is None:
            continue
        mark = Mark(time.monotonic(), int(found[1]), int(found[2]))
        marks = [*marks, mark] if mark.nodes == nodes else []
        if marks and mark.step - marks[0].step >= STEPS:
            return marks
    raise SystemExit(f"the job ended before {STEPS} steps were done with {nodes} nodes")


def rate(marks: Sequence[Mark]) -> float:
    """Steps per second."""
    return (marks[-1].step - marks[0].step) / (marks[-1].at - marks[0].at)
