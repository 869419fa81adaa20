"""The measurements of `benchmarks/moving.py`: this machine, SSH hosts, Slurm, and back.

A real torch DDP of two nodes (gloo) trains on this machine and is moved to two hosts, which are
namespaces of this machine with an sshd each, to a real Slurm of two nodes, and back; that needs
root. Every epoch ends with a checkpoint. The limits: no epoch is lost beyond the last one, none is
done twice, every place goes on with the same weights, nothing counts as a restart, and the logs,
events and metrics of all places are those of one job. How long a move takes has no limit: it
includes the time that torch takes to be imported and to find its peers.
"""

import contextlib
import itertools
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import yaml
from environments import TORCH, environment
from installation import Installation, installed
from machine import SEARCH_PATH
from patience import until
from switch import UnavailableError

from benchmarks import suite
from benchmarks.suite import Row, Rows
from benchmarks.workbench import REPOSITORY
from slurm_cluster import SlurmCluster
from ssh_hosts import SshHosts

NODES = 2
WAY = ("local", "ssh/test", "slurm/test", "local")
EPOCHS = 3
"""How many are done at each place before it goes on."""
BEGINS = re.compile(r"begins at (\d+) weight (\S+) ranks (\d+)")
EPOCH = re.compile(r"epoch (\d+) weight (\S+) ")


@dataclass(frozen=True)
class Log:
    """What a training has said, wherever it was."""

    begun: Sequence[tuple[int, str, int]]
    """The epochs and the weights from which it went on, and with how many ranks."""
    epochs: Sequence[int]
    """The epochs whose checkpoint was whole."""
    weights: dict[int, str]
    """The weights after each epoch."""

    @classmethod
    def of(cls, text: str) -> "Log":
        """Read it."""
        begun = [(int(epoch), sum_, int(ranks)) for epoch, sum_, ranks in BEGINS.findall(text)]
        done = [(int(epoch), sum_) for epoch, sum_ in EPOCH.findall(text)]
        return cls(begun, [epoch for epoch, _ in done], dict(done))

    @property
    def repeated(self) -> int:
        """How many epochs were done twice, or left out."""
        whole = list(range(1, len(self.epochs) + 1))
        return sum(found != wanted for found, wanted in zip(self.epochs, whole, strict=True))

    @property
    def strangers(self) -> int:
        """How often it went on with weights that were not those of the last epoch."""
        later = self.begun[1:]
        return sum(self.weights.get(epoch) != weight for epoch, weight, _ in later)


@dataclass(frozen=True)
class Training:
    """The job, and where it is told to end."""

    home: Installation
    id: str
    enough: Path

    def log(self) -> Log:
        """What it has said so far."""
        return Log.of(self.home.run("jobs", "logs", self.id, "--all-attempts"))

    def wait_for_epochs(self, count: int) -> Log:
        """Wait until it has done that many where it is."""

        def has_done() -> bool:
            found = self.log()
            return bool(found.begun) and len(found.epochs) >= found.begun[-1][0] + count

        until(has_done, f"{count} epochs are not done")
        return self.log()

    def move(self, place: str) -> None:
        """Have it train in another place."""
        before = len(self.log().begun)
        self.home.run("jobs", "move", self.id, "--on", place)
        until(lambda: len(self.log().begun) > before, f"it does not go on at {place}")
        self.wait_for_epochs(1)


def main(arguments: list[str]) -> int:
    """Measure, print, judge."""
    return suite.run(arguments, {"torch": around}, rows, UnavailableError)


def rows(chosen: Sequence[Callable[[], Iterator[Row]]]) -> Rows:
    """One after the other."""
    for measurement in chosen:
        yield from measurement()


def around() -> Iterator[Row]:
    """A training that goes all the way."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="trainway-moving-")))
        home = stack.enter_context(everywhere(folder))
        training = submitted(home, folder)
        training.wait_for_epochs(EPOCHS)
        for origin, place in itertools.pairwise(WAY):
            yield from hop(training, origin, place)
        training.enough.touch()
        home.run("jobs", "wait", training.id)
        yield from history(training)


@contextlib.contextmanager
def everywhere(folder: Path) -> Iterator[Installation]:
    """A Trainway with hosts and a Slurm, on which there is torch."""
    torch = environment(*TORCH)
    search = f"{torch.path / 'bin'}:{SEARCH_PATH}"
    with SshHosts(NODES) as hosts, SlurmCluster(NODES, accounting="text", namespaces=True) as slurm:
        pool = {
            "options": ["-F", str(hosts.config)],
            "env": {"PATH": search},
            "hosts": [{"host": host.name, "cpus": 2, "memory": "8Gi"} for host in hosts.hosts],
        }
        cluster = {
            "home": str(folder / "shared"),
            "env": {"PATH": search},
            "sbatch_options": {"mem": "4G"},
        }
        home = folder / "home"
        home.mkdir()
        settings = {"pools": {"test": pool}, "clusters": {"test": cluster}}
        (home / "config.yaml").write_text(yaml.safe_dump(settings))
        with installed(home, {**torch.variables(), **slurm.environment}) as installation:
            yield installation


def submitted(home: Installation, folder: Path) -> Training:
    """The training, which begins on this machine."""
    for source in ("benchmarks/moving_train.py", "examples/progress.py"):
        shutil.copy(REPOSITORY / source, folder)
    enough = folder / "enough"
    words = ["--nodes", str(NODES), "--procs-per-node", "1", "--env", "OMP_NUM_THREADS=1"]
    program = [str(folder / "moving_train.py"), "--", str(enough)]
    job = home.submit("--name", "traveller", "--oversubscribe", *words, *program)
    return Training(home, job, enough)


def hop(training: Training, origin: str, place: str) -> Iterator[Row]:
    """Move it once; how long nobody trained is within the time."""
    began = time.monotonic()
    training.move(place)
    seconds = time.monotonic() - began
    found = training.wait_for_epochs(EPOCHS)
    after = found.begun[-1][0]
    last = found.epochs.index(after + 1)  # what was done before it went on
    before = found.epochs[last - 1]
    left, taken = parts(training)
    beside = f"epoch {before} before, {after} after; left in {left:.1f} s, begun in {taken:.1f} s"
    yield Row(f"{origin} to {place}, until it trains", seconds, "s", None, beside)
    yield Row(f"{origin} to {place}, epochs lost", before - after, "", 0)


def parts(training: Training) -> tuple[float, float]:
    """How long its last place took to let go of it, and the next one to begin with it."""
    events = training.home.json("jobs", "events", training.id)["items"]
    newest = {event["reason"]: datetime.fromisoformat(event["time"]) for event in events}
    moments = [newest[reason] for reason in ("Moving", "Arriving", "Moved")]
    left, taken = (after - before for before, after in itertools.pairwise(moments))
    return left.total_seconds(), taken.total_seconds()


def history(training: Training) -> Iterator[Row]:
    """What is left of it is one history."""
    found, home = training.log(), training.home
    shown = home.job(training.id)
    reasons = re.findall(r"Moving|Moved", home.run("jobs", "events", training.id))
    moves = len(WAY) - 1
    ranks = sum(ranks != NODES for _, _, ranks in found.begun)
    epochs = f"{len(found.epochs)} epochs, {shown['status']['phase']}"
    yield Row("epochs that were done twice or left out", found.repeated, "", 0, epochs)
    yield Row("places that went on with other weights", found.strangers, "", 0)
    yield Row("places with fewer ranks", ranks, "", 0)
    yield Row("attempts", 1 + shown["status"]["restarts"], "", 1)
    yield Row("moves that are not in its events", 2 * moves - len(reasons), "", 0)
    points = home.get(f"/jobs/{training.id}/metrics")["series"]["done"]
    said = [point["value"] for point in points]
    back = sum(after < before for before, after in itertools.pairwise(said))
    yield Row("steps back in its metrics", back, "", 0, f"{len(said)} points of one series")
