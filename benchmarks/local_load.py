"""What running a job here costs; `local.py` starts it.

Each line has what was measured, the limit it must keep, and what it is compared with. Exit status 1
if a limit was missed. All of it happens in a home directory of its own. Names choose some of the
measurements: latency, overhead, history, memory, log.
"""

import contextlib
import json
import os
import socket
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import suite
from benchmarks.suite import Measurement, Row, Rows
from benchmarks.workbench import (
    REPOSITORY,
    TRAINWAY,
    Doorbell,
    container_job,
    median,
    scratch_home,
    timed,
    trainway,
)

TORCH = ("torch>=2.6,<3", "numpy>=1.26,<3")

WARM, COLD, LISTS, PAIRS = 20, 5, 10, 20
FINISHED_JOBS, SLEEPING_JOBS = 10_000, 100
LOG_BYTES = 1_000_000_000


def main(names: list[str]) -> int:
    """Measure, print, judge."""
    return suite.run(names, MEASUREMENTS, rows)


def rows(chosen: list[Measurement]) -> Rows:
    """Each in a home directory of its own."""
    for measure in chosen:
        with scratch_home():
            yield from measure()


def latency() -> Iterator[Row]:
    """From the submission to the moment when the user's own process runs."""
    from trainway import Client  # noqa: PLC0415 (not needed for the rest)

    bell = Doorbell()
    client = Client()

    def by_sdk() -> None:
        client.run(container_job(bell.command))
        bell.wait()

    def by_cli() -> None:
        command = [TRAINWAY, "run", "--detach", "--", *bell.command]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL):
            bell.wait()

    by_sdk()
    warm = [timed(by_sdk) for _ in range(WARM)]
    worst = f"worst of {WARM}: {max(warm):.3f} s"
    yield Row("submit to first process, warm server, p50", median(warm), "s", 0.3, worst)
    command = [timed(by_cli) for _ in range(WARM)]
    beside = "the same, with the start of the command line"
    yield Row("trainway run to first process, warm server, p50", median(command), "s", 0.3, beside)

    cold = []
    for _ in range(COLD):
        trainway("server", "stop")
        cold.append(timed(by_cli))
    worst = f"worst of {COLD}: {max(cold):.3f} s"
    yield Row("trainway run to first process, no server, p50", median(cold), "s", 1.5, worst)
    yield Row("a bare process, for comparison", timed(bare, bell), "s")


def bare(bell: Doorbell) -> None:
    """What a shell would do."""
    with subprocess.Popen(bell.command):
        bell.wait()


def overhead() -> Iterator[Row]:
    """examples/torch-ddp.yaml as a job and with torchrun by hand, one after the other in turns.

    Four processes on two cores take a second more or less each time, whoever starts them: that is
    why there are many pairs, and why every other pair begins with the job.
    """
    scripts = torch_environment() / "bin"
    os.environ["PATH"] = os.pathsep.join([str(scripts), os.environ["PATH"]])
    os.environ["OMP_NUM_THREADS"] = "1"
    trainway("jobs", "list")  # the server runs
    sleeps = [timed(trainway, "run", "--", "sleep", "1") for _ in range(LISTS)]
    yield Row("trainway run -- sleep 1, over 1 s, p50", median(sleeps) - 1, "s")
    raw, job = list[float](), list[float]()
    for number in range(PAIRS):
        turns: list[tuple[list[float], Callable[..., object], tuple[object, ...]]] = [
            (raw, raw_torchrun, (number,)),
            (job, trainway, ("run", "examples/torch-ddp.yaml")),
        ]
        for times, call, arguments in turns if number % 2 else reversed(turns):
            times.append(timed(call, *arguments))
    bare_s = median(raw)
    apart = [ours - bare for ours, bare in zip(job, raw, strict=True)]
    limit = max(0.5, 0.03 * bare_s)
    yield Row("torchrun by hand, p50", bare_s, "s", None, spread(raw))
    yield Row("the same by trainway run, p50", median(job), "s", None, spread(job))
    beside = f"{min(apart):+.2f} to {max(apart):+.2f} s, mean {statistics.mean(apart):+.2f} s"
    yield Row("difference of a pair, p50", median(apart), "s", round(limit, 3), beside)


def spread(values: list[float]) -> str:
    """How far the measurements lie apart."""
    return f"of {len(values)}; best {min(values):.2f} s, worst {max(values):.2f} s"


def raw_torchrun(number: int) -> None:
    """What a person would type in two terminals, one for each node."""
    output = Path(os.environ["TRAINWAY_HOME"]) / f"raw-{number}"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = ["torchrun", "--nnodes", "2", "--nproc-per-node", "2", "--master-addr", "127.0.0.1"]
    words += ["--master-port", str(port)]
    nodes = [
        subprocess.Popen(
            [*words, "--node-rank", str(rank), "examples/torch_ddp.py", "--epochs", "5"],
            cwd=REPOSITORY,
            env={**os.environ, "TRAINWAY_OUTPUT_DIR": str(output)},
            stdout=subprocess.DEVNULL,
        )
        for rank in range(2)
    ]
    if any([node.wait() for node in nodes]):  # noqa: C419 (all are waited for)
        raise SystemExit("torchrun failed")


def torch_environment() -> Path:
    """An environment with torch and nothing that reacts to being in a job."""
    tool = REPOSITORY / "tools" / "training_environment.py"
    made = subprocess.run(
        [sys.executable, tool, *TORCH], stdout=subprocess.PIPE, text=True, check=True
    )
    return Path(made.stdout.strip())


def history() -> Iterator[Row]:
    """`trainway jobs list` with a long history."""
    trainway("run", "--name", "finished", "--", "true")
    trainway("server", "stop")
    multiply_job(Path(os.environ["TRAINWAY_HOME"]) / "trainway.db", FINISHED_JOBS)

    first = timed(trainway, "jobs", "list")
    lists = [timed(trainway, "jobs", "list") for _ in range(LISTS)]
    total = json.loads(trainway("server", "status", "-o", "json"))["jobs"]["total"]
    beside = (
        f"{total} jobs; worst of {LISTS}: {max(lists):.3f} s; with the server's start {first:.3f} s"
    )
    yield Row("trainway jobs list, p50", median(lists), "s", 0.25, beside)


def multiply_job(database: Path, count: int) -> None:
    """Copy the rows of the one job there is, under other ids."""
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        [(original,)] = connection.execute("SELECT id FROM jobs").fetchall()
        connection.execute("UPDATE jobs SET idempotency_key = NULL")  # which no two jobs share
        for table, key in (("jobs", "id"), ("job_specs", "job_id"), ("events", "job_id")):
            cursor = connection.execute(f"SELECT * FROM {table}")  # noqa: S608 (names from above)
            columns = [column[0] for column in cursor.description]
            rows = cursor.fetchall()
            place, marks = columns.index(key), ", ".join("?" * len(columns))
            copies = (
                (*row[:place], f"0{number:0{len(original) - 1}}", *row[place + 1 :])
                for number in range(count - 1)
                for row in rows
            )
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", copies)  # noqa: S608


def memory() -> Iterator[Row]:
    """The server's memory while many jobs run."""
    from trainway import Client  # noqa: PLC0415 (not needed for the rest)

    client = Client()
    started = time.perf_counter()
    jobs = [client.run(container_job(["sleep", "infinity"])) for _ in range(SLEEPING_JOBS)]
    for job in jobs:
        follow_until_running(job.id)
    took = time.perf_counter() - started
    server = json.loads(trainway("server", "status", "-o", "json"))
    beside = f"{server['jobs']['active']} jobs run, after {took:.1f} s"
    yield Row("server with sleeping jobs, resident", resident_mb(server["pid"]), "MB", 120, beside)


def follow_until_running(job: str) -> None:
    """Return when the job runs."""
    from trainway.sdk.rest import Rest, phase  # noqa: PLC0415 (not needed for the rest)

    for data in Rest.connect().watch(job):
        if phase(data) == "Running":
            return
    raise SystemExit(f"{job} ended")


def resident_mb(pid: int) -> float:
    """The memory that a process has."""
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024 / 1e6


def log() -> Iterator[Row]:
    """A job that writes a gigabyte."""
    code = (
        "import sys; block = (b'epoch 1 loss 0.25 '.ljust(99, b'.') + b'\\n') * 10_000\n"
        f"for _ in range({LOG_BYTES} // len(block)): sys.stdout.buffer.write(block)\n"
        "print('the end')"
    )
    writer = [sys.executable, "-c", code]
    file = Path(os.environ["TRAINWAY_HOME"]) / "bare.log"
    with file.open("wb") as out:
        bare_s = timed(lambda: subprocess.run(writer, stdout=out, check=True))
    file.unlink()
    size = f"{LOG_BYTES / 1e9:g} GB"
    started = time.perf_counter()
    trainway("run", "--detach", "--name", "log", "--", *writer)
    trainway("jobs", "wait", "log")
    job_s = time.perf_counter() - started
    beside = f"{LOG_BYTES / job_s / 1e6:.0f} MB/s; to a file by itself: {bare_s:.1f} s"
    yield Row(f"a job that logs {size}", job_s, "s", None, beside)
    tails = [timed(trainway, "jobs", "logs", "log", "--tail", "10") for _ in range(LISTS)]
    yield Row(f"trainway jobs logs --tail 10 of {size}, p50", median(tails), "s")
    server = json.loads(trainway("server", "status", "-o", "json"))
    yield Row("server after that, resident", resident_mb(server["pid"]), "MB")


MEASUREMENTS: dict[str, Measurement] = {
    "latency": latency,
    "overhead": overhead,
    "history": history,
    "memory": memory,
    "log": log,
}
