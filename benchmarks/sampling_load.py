"""What sampling costs an agent.

An agent runs a job of eight ranks for a minute without sampling, and for another one with it. The
difference of the CPU time that it used, by second and rank, is what sampling costs.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.suite import Row
from trainway.agent.base.launch import PACKAGE, command
from trainway.agent.base.testing import container, jobset, role
from trainway.agent.local.testing import AgentJob

RANKS = 8
USUAL_SECONDS = 60.0
MOST_PERCENT = 0.5
RANK = "import time\nwhile True: time.sleep(0.01)"


def cpu_seconds(pid: int) -> float:
    """What a process has used, and its children that ended."""
    fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def measured(folder: Path, seconds: float, *, is_sampling: bool) -> tuple[float, int]:
    """The CPU time of an agent in so many seconds, and how often it has written what pods use."""
    main = container("main", f"exec {sys.executable} -c '{RANK}'")
    ranks = role("node", main, parallelism=RANKS, completions=RANKS, completionMode="Indexed")
    job = AgentJob(folder, jobset(ranks))
    argv = command(str(folder))
    if not is_sampling:
        argv = [*argv[: argv.index(str(PACKAGE))], "-c", _unsampled(), str(folder)]
    job.start(argv=argv)
    for rank in range(RANKS):
        job.until_pod("Running", f"node-0-{rank}")
    before, began = cpu_seconds(job.pid), time.monotonic()
    time.sleep(seconds)
    used, passed = cpu_seconds(job.pid) - before, time.monotonic() - began
    job.ask("cancel")
    job.end()
    records = sum(record["type"] == "usage" for record in job.records())
    return used / passed, records


def _unsampled() -> str:
    """A program that is the agent, whose first sample never comes."""
    return f"""
import runpy, sys
sys.path.insert(0, {str(PACKAGE.parent.parent)!r})
from trainway.agent.kubelet.usage import sampler
sampler.FIRST_SECONDS = 1e9
runpy.run_path({str(PACKAGE)!r}, run_name="__main__")
"""


def main(arguments: list[str]) -> int:
    """Measure, print and judge."""
    seconds = float(arguments[0]) if arguments else USUAL_SECONDS
    with tempfile.TemporaryDirectory() as folder:
        without, none = measured(Path(folder) / "without", seconds, is_sampling=False)
        with_it, records = measured(Path(folder) / "with", seconds, is_sampling=True)
    if none or not records:
        print(f"nothing was measured: {none} and {records} records")
        return 2
    cost = max(0.0, with_it - without) * 100
    print(Row("the agent without sampling, of a core", without * 100, "%"))
    print(Row("the agent with sampling, of a core", with_it * 100, "%"))
    row = Row(
        "sampling, for each rank",
        cost / RANKS,
        "%",
        MOST_PERCENT,
        f"{RANKS} ranks, {seconds:g} s, {records} records",
    )
    print(row)
    return 0 if row.is_kept else 1
