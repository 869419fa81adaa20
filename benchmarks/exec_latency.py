"""What a job on a cluster costs; `clusters.py` starts it.

Each line has what was measured, the limit it must keep, and what it is compared with. Exit status 1
if a limit was missed. All of it happens in a home directory of its own.
"""

import json
import os
import subprocess
from collections.abc import Iterator

from benchmarks import suite
from benchmarks.suite import Measurement, Row, Rows
from benchmarks.workbench import TRAINWAY, Doorbell, median, scratch_home, timed, trainway

CLUSTER = "bench"
TIMES = 20


def main(names: list[str]) -> int:
    """Measure, print, judge."""
    return suite.run(names, MEASUREMENTS, rows)


def rows(chosen: list[Measurement]) -> Rows:
    """On clusters of a small machine, gone at the end."""
    os.environ["TRAINWAY_LOCAL_CAPACITY"] = json.dumps({"cpu": "4", "memory": "8Gi", "gpus": 0})
    with scratch_home():
        try:
            for measure in chosen:
                yield from measure()
        finally:
            trainway("down", "--all", "--yes")


def latency() -> Iterator[Row]:
    """From the command to the moment when the user's own process runs."""
    bell = Doorbell()
    line = " ".join(bell.command[2:])

    def launched() -> None:
        with subprocess.Popen([TRAINWAY, "launch", "-y", "-d", "-c", CLUSTER, line]):
            bell.wait()

    def executed() -> None:
        command = [TRAINWAY, "exec", "-d", CLUSTER, line]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL):
            bell.wait()

    trainway("server", "start")
    yield Row("trainway launch of a new local cluster to first process", timed(launched), "s")
    executed()
    found = [timed(executed) for _ in range(TIMES)]
    worst = f"worst of {TIMES}: {max(found):.3f} s; SkyPilot: 2-3 s"
    yield Row("trainway exec to first process, warm, p50", median(found), "s", 0.3, worst)
    yield from by_sdk(bell, line)


def by_sdk(bell: Doorbell, line: str) -> Iterator[Row]:
    """The same without the start of the command line."""
    from trainway import Client  # noqa: PLC0415 - not needed for the rest

    cluster = Client().cluster(CLUSTER)

    def executed() -> None:
        cluster.exec(line)
        bell.wait()

    found = [timed(executed) for _ in range(TIMES)]
    worst = f"worst of {TIMES}: {max(found):.3f} s"
    yield Row("exec by the SDK to first process, warm, p50", median(found), "s", 0.3, worst)


MEASUREMENTS: dict[str, Measurement] = {"latency": latency}
