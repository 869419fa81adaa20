"""The measurements of `benchmarks/mpi.py`: the same allreduce, by mpirun alone and by Trainway.

The hosts are namespaces of this machine with an sshd each, as in the tests (`test/ssh_hosts`); that
needs root, and `mpicc` for the program (`allreduce.c`). Every rank has a host of its own, so that
all that they say to each other goes over TCP. A run by mpirun alone and one by `trainway run` of an
MPIJob take turns; what counts is the median over the pairs. Runs on a virtual machine differ by
some percent however long they are, so with as many ranks as cores each side of a pair is the median
of several short runs. The first run by Trainway starts its server and its agents, and is told
apart. `quick` takes two pairs instead of ten. Numbers of ranks choose: 2, 4, 8. Exit status 1 if a
limit was missed.
"""

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import yaml
from ssh_pool import ON, SshPool, pool_of
from switch import UnavailableError

from benchmarks import suite
from benchmarks.suite import Row, Rows
from benchmarks.workbench import REPOSITORY, TRAINWAY, median
from ssh_hosts import SshHosts
from trainway.api.mpijob_wishes import MPIJobWishes, mpijob_of
from trainway.api.pod_wishes import ResourceRequirements

RANKS = (2, 4, 8)
PAIRS, QUICK_PAIRS = 10, 2
NUMBERS = 128 * 1024
"""A mebibyte for each rank and round."""
RUNS = {2: 6, 4: 1, 8: 1}
"""How many runs each side of a pair has."""
LOOP_S = 1.5
"""About how long the program shall run by mpirun alone; it finds out how many rounds that is."""
QUICK_LOOP_S = 0.5
PROBE, MOST_ROUNDS = 50, 20_000
CORES = 2
"""With more ranks than this the operating system decides what a run takes."""
MOST_LAUNCH_S, MOST_SLOWER = 1.0, 3.0
LIMIT_S = 300.0
"""For one run: far beyond what it takes."""
MORE_THAN_HALF = "1500m"
"""Of the two CPUs that each host says it has: one worker on each, beside the launcher on one."""
SOURCE = REPOSITORY / "benchmarks" / "allreduce.c"
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@dataclass(frozen=True)
class Run:
    """One run of the program, in seconds."""

    launch: float
    """From the command to the moment when all ranks have met."""
    loop: float
    """What the program measured itself."""
    whole: float
    """From the command to its end."""


@dataclass(frozen=True)
class Bench:
    """Hosts, a pool of them, and a program that they all can run."""

    hosts: SshHosts
    pool: SshPool
    folder: Path

    def words(self, ranks: int, rounds: int) -> list[str]:
        """The program with what it is told, as mpirun starts it in both ways."""
        # Hosts that share a machine would otherwise bind all their ranks to the same core.
        yielding = [] if ranks <= CORES else ["--mca", "mpi_yield_when_idle", "1"]
        program = [str(self.folder / "allreduce"), str(self.marks), str(rounds), str(NUMBERS)]
        return ["--bind-to", "none", *yielding, *program]

    @property
    def marks(self) -> Path:
        """What the program writes."""
        return self.folder / "marks"

    def bare(self, ranks: int, rounds: int) -> Run:
        """By mpirun on the first host, which reaches the others with ssh."""
        where = ",".join(f"{host.address}:1" for host in self.hosts.hosts[:ranks])
        login = ["ssh", "-F", str(self.hosts.config)]
        agent = ["--mca", "plm_rsh_agent", f"'{' '.join(login)}'"]
        mpirun = ["mpirun", "--allow-run-as-root", *agent, "--host", where]
        words = [*login, self.hosts[0].name, *mpirun, *self.words(ranks, rounds)]
        return self._timed(words, dict(os.environ))

    def ours(self, ranks: int, rounds: int) -> Run:
        """By `trainway run` of an MPIJob."""
        wishes = MPIJobWishes(
            name=f"allreduce-{ranks}",
            command=["mpirun", *self.words(ranks, rounds)],
            workers=ranks,
            resources=ResourceRequirements(cpu=MORE_THAN_HALF),
        )
        manifest = self.folder / "allreduce.yaml"
        manifest.write_text(yaml.safe_dump(mpijob_of(wishes)))
        return self._timed([TRAINWAY, "run", "--on", ON, str(manifest)], self.pool.environ())

    def _timed(self, words: Sequence[str], environ: dict[str, str]) -> Run:
        self.marks.unlink(missing_ok=True)
        began = time.time()
        done = subprocess.run(
            words,
            cwd=self.folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        whole = time.time() - began
        if done.returncode != 0 or not self.marks.exists():
            said = f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
            raise SystemExit(f"{' '.join(words)}: {done.returncode}\n{said}")
        told = dict(line.split() for line in self.marks.read_text().splitlines())
        return Run(float(told["begun"]) - began, float(told["took"]), whole)


def main(arguments: list[str]) -> int:
    """Measure, print, judge."""
    is_quick = "quick" in arguments
    names = [name for name in arguments if name != "quick"]
    return suite.run(names, MEASUREMENTS, lambda chosen: rows(chosen, is_quick), UnavailableError)


def rows(chosen: Sequence[int], is_quick: bool) -> Rows:
    """All on the same hosts, the first run of Trainway apart."""
    pairs = QUICK_PAIRS if is_quick else PAIRS
    with bench(max(chosen)) as here:
        first = here.ours(min(chosen), PROBE)
        beside = "with the start of the server and of the agents"
        yield Row("launch, the very first", first.launch, "s", None, beside)
        for ranks in chosen:
            probe = here.bare(ranks, PROBE)
            wanted = QUICK_LOOP_S if is_quick else LOOP_S
            rounds = min(MOST_ROUNDS, max(PROBE, round(PROBE * wanted / probe.loop)))
            yield from compared(here, ranks, rounds, pairs)


def compared(here: Bench, ranks: int, rounds: int, pairs: int) -> Iterator[Row]:
    """Both ways in turns."""
    runs = [pair(here, ranks, rounds) for _ in range(pairs)]
    launches = [ours.launch - bare.launch for bare, ours in runs]
    bare, ours = (median([pair[way].launch for pair in runs]) for way in (0, 1))
    beside = f"mpirun alone {bare:.2f} s, trainway run {ours:.2f} s; worst pair {max(launches):.2f}"
    what = f"{ranks} ranks: launch, over mpirun alone, p50 of {pairs}"
    yield Row(what, median(launches), "s", MOST_LAUNCH_S, beside)
    slower = [(ours.loop / bare.loop - 1) * 100 for bare, ours in runs]
    bare, ours = (median([pair[way].loop for pair in runs]) for way in (0, 1))
    beside = f"mpirun alone {bare:.2f} s, trainway run {ours:.2f} s; pairs {listed(slower)}"
    limit = MOST_SLOWER if ranks <= CORES else None
    what = f"{ranks} ranks: the run itself, slower than alone"
    yield Row(what, median(slower), "%", limit, beside)
    over = [ours.whole - ours.loop - (bare.whole - bare.loop) for bare, ours in runs]
    yield Row(f"{ranks} ranks: whole command without the loop, over", median(over), "s")


def pair(here: Bench, ranks: int, rounds: int) -> tuple[Run, Run]:
    """Both ways, each as often as the other, and first as often as the other."""
    alone: list[Run] = []
    through: list[Run] = []
    for turn in range(RUNS[ranks]):
        ways = [(here.bare, alone), (here.ours, through)]
        for way, runs in ways if turn % 2 == 0 else reversed(ways):
            runs.append(way(ranks, rounds))
    return middle(alone), middle(through)


def middle(runs: Sequence[Run]) -> Run:
    """The medians of several runs."""
    return Run(*(median(list(values)) for values in zip(*map(astuple, runs), strict=True)))


def listed(values: Sequence[float]) -> str:
    """From the lowest to the highest."""
    return " ".join(f"{value:+.1f}" for value in sorted(values))


@contextlib.contextmanager
def bench(ranks: int) -> Iterator[Bench]:
    """As many hosts as ranks; at the end nothing of it is left."""
    with (
        SshHosts(ranks) as hosts,
        tempfile.TemporaryDirectory(prefix="trainway-bench-") as name,
    ):
        folder = Path(name)
        compile_program(folder / "allreduce")
        with pool_of(hosts, folder / "home", env=AS_ROOT) as pool:
            yield Bench(hosts, pool, folder)


def compile_program(program: Path) -> None:
    """Make the program of its source."""
    if not shutil.which("mpicc") or not shutil.which("mpirun"):
        raise UnavailableError("mpicc: not found; apt-get install openmpi-bin libopenmpi-dev")
    subprocess.run(["mpicc", "-O2", "-o", str(program), str(SOURCE)], check=True)


MEASUREMENTS = {str(ranks): ranks for ranks in RANKS}
