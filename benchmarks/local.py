"""What running a job here costs: `python benchmarks/local.py [NAME...]`.

Each line has what was measured, the limit it must keep, and what it is compared with. Exit status 1
if a limit was missed. All of it happens in a home directory of its own. Names choose some of the
measurements: latency, overhead, history, memory, log.
"""

import contextlib
import json
import os
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
TRAINWAY = str(Path(sys.executable).with_name("trainway"))
TORCH = ("torch>=2.6,<3", "numpy>=1.26,<3")

WARM, COLD, LISTS, PAIRS = 20, 5, 10, 20
FINISHED_JOBS, SLEEPING_JOBS = 10_000, 100
LOG_BYTES = 1_000_000_000


@dataclass(frozen=True)
class Row:
    """One measurement."""

    what: str
    value: float
    unit: str
    limit: float | None = None
    beside: str = ""
    """What else is worth knowing."""

    @property
    def is_kept(self) -> bool:
        """Whether the value is within its limit."""
        return self.limit is None or self.value <= self.limit

    def __str__(self) -> str:
        limit = "" if self.limit is None else f"<= {self.limit:g} {self.unit}"
        verdict = "" if self.limit is None else ("ok" if self.is_kept else "MISSED")
        return (
            f"{self.what:52} {self.value:9.3f} {self.unit:3} {limit:13} {verdict:7} {self.beside}"
        )


def main(names: list[str]) -> int:
    """Measure, print, judge."""
    unknown = set(names) - set(MEASUREMENTS)
    if unknown:
        print(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(MEASUREMENTS)}")
        return 2
    rows = []
    for name in names or MEASUREMENTS:
        with scratch_home():
            for row in MEASUREMENTS[name]():
                print(row, flush=True)
                rows.append(row)
    return 0 if all(row.is_kept for row in rows) else 1


@contextlib.contextmanager
def scratch_home() -> Iterator[Path]:
    """A home directory that this process and its commands use, gone at the end."""
    folder = Path(tempfile.mkdtemp(prefix="trainway-bench-"))
    os.environ["TRAINWAY_HOME"] = str(folder)
    try:
        yield folder
    finally:
        active = json.loads(trainway("jobs", "list", "--all", "--active", "-o", "json"))["items"]
        if active:
            trainway("jobs", "delete", *(job["metadata"]["id"] for job in active))
        trainway("server", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def trainway(*words: str) -> str:
    """What a command prints."""
    done = subprocess.run(
        [TRAINWAY, *words], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"trainway {' '.join(words)}: {done.returncode}\n{done.stderr}")
    return done.stdout


def timed(call: Callable[..., object], *args: object) -> float:
    """The seconds that a call takes."""
    started = time.perf_counter()
    call(*args)
    return time.perf_counter() - started


class Doorbell:
    """A pipe that the first process of a job writes to: reading it waits for that moment."""

    def __init__(self) -> None:
        self._pipe = Path(os.environ["TRAINWAY_HOME"]) / "doorbell"
        os.mkfifo(self._pipe)
        self.command = ["/bin/sh", "-c", f"echo > {self._pipe}"]

    def wait(self) -> None:
        """Return when it rings."""
        self._pipe.read_text()


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
    yield Row(f"a job that logs {size}", job_s, "s", None, f"to a file by itself: {bare_s:.1f} s")
    tails = [timed(trainway, "jobs", "logs", "log", "--tail", "10") for _ in range(LISTS)]
    yield Row(f"trainway jobs logs --tail 10 of {size}, p50", median(tails), "s")
    server = json.loads(trainway("server", "status", "-o", "json"))
    yield Row("server after that, resident", resident_mb(server["pid"]), "MB")


def container_job(command: list[str]) -> dict[str, object]:
    """A JobSet of one container."""
    pod = {"restartPolicy": "Never", "containers": [{"name": "node", "command": command}]}
    job = {"backoffLimit": 0, "template": {"spec": pod}}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "bench"},
        "spec": {"replicatedJobs": [{"name": "node", "template": {"spec": job}}]},
    }


def median(values: list[float]) -> float:
    """The middle one: half of them are lower."""
    return statistics.median(values)


MEASUREMENTS: dict[str, Callable[[], Iterator[Row]]] = {
    "latency": latency,
    "overhead": overhead,
    "history": history,
    "memory": memory,
    "log": log,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
