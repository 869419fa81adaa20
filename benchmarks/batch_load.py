"""What running jobs on Slurm costs; `python benchmarks/slurm.py` measures it.

The cluster is a real Slurm of four nodes on this machine, as in the tests (`test/slurm_cluster`);
that needs root. Each line has what was measured, the limit it must keep, and what it is compared
with. Exit status 1 if a limit was missed. Names choose some of the measurements: torch, queue.
"""

import contextlib
import json
import os
import shlex
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from environments import TORCH, environment
from slurm_site import ON, SlurmSite, site_of, until
from switch import UnavailableError

from benchmarks import suite
from benchmarks.suite import Measurement, Row, Rows
from benchmarks.workbench import REPOSITORY, container_job, median, timed, trainway
from slurm_cluster import SlurmCluster

NODES, PAIRS, JOBS = 4, 10, 500
WATCH_S = 60.0
PROGRAMS = ("sbatch", "squeue", "sacct", "scontrol", "scancel", "sinfo", "srun")
BY_HAND = """#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks=2
#SBATCH --ntasks-per-node=1
#SBATCH --output={folder}/by-hand.out
export OMP_NUM_THREADS=1 PYTHONUNBUFFERED=1 TRAINWAY_OUTPUT_DIR={folder}/$SLURM_JOB_ID PATH={path}
cd {repository}
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n1)
address=$(scontrol --oneliner show node "$head" | sed 's/.*NodeAddr=\\([^ ]*\\).*/\\1/')
srun torchrun --nnodes 2 --nproc-per-node 1 --rdzv-backend c10d --rdzv-endpoint "$address:29400" \\
  --rdzv-id "$SLURM_JOB_ID" examples/torch_ddp.py --epochs 5
status=$?
echo $status > {bell}
exit $status
"""


def main(names: list[str]) -> int:
    """Measure, print, judge."""
    return suite.run(names, MEASUREMENTS, rows, UnavailableError)


def rows(chosen: list[Measurement]) -> Rows:
    """Each makes a cluster of its own."""
    for measure in chosen:
        yield from measure()


@contextlib.contextmanager
def site(path: str) -> Iterator[SlurmSite]:
    """A cluster called `test`, and a home directory for this process and its commands."""
    with (
        SlurmCluster(NODES, accounting="text") as cluster,
        tempfile.TemporaryDirectory(prefix="trainway-bench-") as folder,
        site_of(cluster, Path(folder), {"PATH": path}) as made,
    ):
        os.environ.update(made.environ())
        yield made


def torch() -> Iterator[Row]:
    """Two nodes that train, against the same work as sbatch, srun and torchrun.

    Each node has one process: more of them wait for this machine, not for Slurm.
    """
    path = environment(*TORCH).variables()["PATH"]
    with site(path) as made:
        bell = made.home.parent / "bell"
        os.mkfifo(bell)
        script = BY_HAND.format(
            folder=made.home.parent, path=shlex.quote(path), repository=REPOSITORY, bell=bell
        )

        def by_hand() -> None:
            made.slurm.submit(script)
            status = bell.read_text().strip()
            if status != "0":
                raise SystemExit((made.home.parent / "by-hand.out").read_text()[-4000:])

        def ours() -> None:
            trainway("run", "--on", ON, "--procs-per-node", "1", "examples/torch-ddp.yaml")

        def took(call: Callable[[], None]) -> float:
            """From the moment when the nodes are free of what was before."""
            made.slurm.wait_until_idle()
            return timed(call)

        took(by_hand)
        took(ours)
        pairs = [(took(by_hand), took(ours)) for _ in range(PAIRS)]
    hand, mine = (median(list(column)) for column in zip(*pairs, strict=True))
    yield Row("2 nodes train, sbatch + srun + torchrun, p50", hand, "s", None, f"{PAIRS} runs")
    yield Row("2 nodes train, trainway run --on slurm, p50", mine, "s", None, f"{PAIRS} runs")
    more = median([ours - hand for hand, ours in pairs])
    yield Row("the difference, p50 of pairs", more, "s", 1.0, "what it may cost more")


def queue() -> Iterator[Row]:
    """Jobs that wait for nodes which another one holds."""
    from trainway import Client  # noqa: PLC0415 (not needed for the rest)

    with tempfile.TemporaryDirectory(prefix="trainway-bench-") as folder:
        noted = Path(folder, "commands")
        path = f"{counting(Path(folder, 'bin'), noted)}:{os.environ['PATH']}"
        with site(path) as made:
            holder = made.slurm.submit("exec sleep 3600", f"--nodes={NODES}", "--exclusive")
            made.slurm.wait_for_state(holder, "RUNNING")
            client = Client()

            def submit_all() -> None:
                for _ in range(JOBS):
                    client.run(container_job(["true"]), on=ON)

            took = timed(submit_all)
            until(lambda: waiting() == JOBS, "not all of them wait", 600.0)
            server = made.server_pid()
            noted.write_text("")
            before = busy_s(server), children_busy_s(server)
            time.sleep(WATCH_S)  # it is a rate that is measured
            spent = busy_s(server) - before[0], children_busy_s(server) - before[1]
            ran = Counter(line.split()[0] for line in noted.read_text().splitlines())
            made.slurm.run("scancel", "--full", "--user=root")
    polls = max(ran["squeue"], 1)
    beside = f"{polls} polls in {WATCH_S:.0f} s: {dict(ran)}; submitted in {took:.0f} s"
    yield Row(f"{JOBS} queued jobs, commands of Slurm per poll", ran.total() / polls, "", 2, beside)
    minute = 60 / WATCH_S
    relay = f"its relay {spent[1] * minute:.2f} s"
    yield Row(f"{JOBS} queued jobs, server per minute", spent[0] * minute, "s", 1.0, relay)


def counting(folder: Path, noted: Path) -> Path:
    """A folder of programs that note that they were called, and then are Slurm's."""
    folder.mkdir(parents=True)
    for name in PROGRAMS:
        real = shutil.which(name)
        if real is None:
            raise UnavailableError(f"there is no {name}")
        file = folder / name
        file.write_text(f'#!/bin/sh\necho {name} >> {noted}\nexec {real} "$@"\n')
        file.chmod(0o755)
    return folder


def waiting() -> int:
    """How many jobs the server shows as queued."""
    items = json.loads(trainway("jobs", "list", "--all", "--active", "-o", "json"))["items"]
    return sum(item["status"]["phase"] == "Queued" for item in items)


def busy_s(pid: int) -> float:
    """The seconds of a core that a process has had."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children_busy_s(pid: int) -> float:
    """The same of the processes that it has started and that still run."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return sum(busy_s(int(child)) for child in found)


MEASUREMENTS: dict[str, Measurement] = {"torch": torch, "queue": queue}
