"""What a job on a worker pool costs; `pools.py` starts it.

Each line has what was measured, the limit it must keep, and what it is compared with. Exit status 1
if a limit was missed. All of it happens in a home directory of its own.
"""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import suite
from benchmarks.suite import Measurement, Row, Rows
from benchmarks.workbench import Doorbell, median, scratch_home, timed, trainway

POOL = "bench"
TIMES = 100
PERCENTILE = 0.99
TASK = f"""
name: {POOL}
pool: {{workers: 2}}
resources: {{cpus: 1}}
setup: echo ready
"""


def main(names: list[str]) -> int:
    """Measure, print, judge."""
    return suite.run(names, MEASUREMENTS, rows)


def rows(chosen: list[Measurement]) -> Rows:
    """With a worker pool of a small machine, gone at the end."""
    os.environ["TRAINWAY_LOCAL_CAPACITY"] = json.dumps({"cpu": "4", "memory": "8Gi", "gpus": 0})
    with scratch_home(), TemporaryDirectory() as folder:
        file = Path(folder) / "pool.yaml"
        file.write_text(TASK)
        try:
            trainway("server", "start")
            yield Row("jobs pool apply until two workers are ready", timed(_made, file), "s")
            for measure in chosen:
                yield from measure()
        finally:
            trainway("jobs", "pool", "down", "--all", "--yes", "--cancel-jobs")


def _made(file: Path) -> None:
    trainway("jobs", "pool", "apply", str(file))
    while json.loads(trainway("jobs", "pool", "status", "-o", "json"))["items"][0]["status"][
        "readyWorkers"
    ] < 2:  # fmt: skip
        time.sleep(0.05)


def latency() -> Iterator[Row]:
    """From the call that submits a job to the moment when the user's own process runs."""
    from trainway import Client  # noqa: PLC0415 - not needed for the rest

    client, bell = Client(), Doorbell()
    line = " ".join(bell.command[2:])
    found = []
    for number in range(TIMES + 1):
        start = time.perf_counter()
        job = client.run({"run": line}, on=f"worker-pool/{POOL}")
        bell.wait()
        if number:  # the first one loads what the others find loaded
            found.append(time.perf_counter() - start)
        job.wait()
    worst = f"p50: {median(found):.3f} s, worst of {TIMES}: {max(found):.3f} s"
    late = sorted(found)[int(TIMES * PERCENTILE) - 1]
    yield Row("submission to first process on a warm worker, p99", late, "s", 0.3, worst)


MEASUREMENTS: dict[str, Measurement] = {"latency": latency}
