"""The measurements of `benchmarks/mpijobs.py`: from creating an MPIJob to the last of its pods.

The cluster is KWOK's: a real API server, scheduler, controllers of Jobs and JobSets, and nodes that
only pretend; our operator runs beside it with its webhooks. Jobs of four workers are created one
after another and stay, so that the last ones come to a cluster with hundreds of pods. The clock
starts with the call or the command and stops when a watch has told of every pod that the job is to
have at once.

Jobs of the SDK and of the command have a launcher that is created when its workers are ready
(`launcherCreationPolicy: WaitForWorkersReady`). That is no part of the submission: Kubernetes' own
controller of Jobs looks at pods that became ready once a second. So their workers have the limit,
and the launcher is printed beside. Jobs of a file that leaves Kubeflow's default, `AtStartup`, have
all pods at once, and the limit is for all of them. Names choose: sdk (`trainway.training.MPIJob`),
command (`trainway mpijob create NAME`), file (`trainway mpijob create -f FILE`). `--short` takes a
few jobs only. Exit status 1 if a limit was missed.
"""

import json
import math
import queue
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from cluster.fixtures import fresh_namespace
from cluster.kwok import Guest, KwokCluster
from cluster.unavailable import UnavailableError
from kwok_operator import operating

from benchmarks import suite
from benchmarks.pod_births import Birth, pod_births
from benchmarks.suite import Row, Rows
from benchmarks.workbench import TRAINWAY
from trainway.api.mpijob_wishes import MPIJobWishes, mpijob_of
from trainway.jobset.labels import JOBSET_NAME, REPLICATED_JOB_NAME
from trainway.training import MPIJob, ResourceRequirements
from trainway.training.members import LAUNCHER

WORKERS = 4
PODS = 1 + WORKERS
IMAGE, COMMAND, CPU = "team/train:v1", "python train.py", "1"
LONGER_THAN_ALL_MS = 3_600_000
PATIENCE_S = 60.0
WARM = 3
"""Jobs before the first that counts: they find nothing warm."""
MOST_S = 1.0


@dataclass(frozen=True)
class Size:
    """How many jobs are created in each way, on how many nodes."""

    sdk: int = 100
    command: int = 20
    file: int = 20
    nodes: int = 100


SHORT = Size(sdk=5, command=2, file=2, nodes=10)


class Taken(NamedTuple):
    """The seconds from the beginning of a creation."""

    workers: float
    """Until the last worker was there."""
    all_pods: float


@dataclass(frozen=True)
class Bench:
    """A cluster with our operator, and the pods that come to be in it."""

    kubeconfig: Path
    namespace: str
    births: "queue.Queue[Birth]"
    folder: Path

    def by_sdk(self, name: str) -> None:
        """Create a job as a Python program does."""
        MPIJob(
            name,
            namespace=self.namespace,
            workers=WORKERS,
            image=IMAGE,
            command=COMMAND,
            resources=ResourceRequirements(cpu=CPU),
            kubeconfig=self.kubeconfig,
        ).create()

    def by_command(self, name: str) -> None:
        """Create a job as a person does."""
        what = ["--image", IMAGE, "--command", COMMAND, "--workers", str(WORKERS), "--cpu", CPU]
        self._command("create", name, *what)

    def by_file(self, name: str) -> None:
        """Create a job whose launcher does not wait."""
        wishes = MPIJobWishes(
            name=name,
            workers=WORKERS,
            image=IMAGE,
            command=COMMAND,
            resources=ResourceRequirements(cpu=CPU),
        )
        job = mpijob_of(wishes)
        del job["spec"]["launcherCreationPolicy"]
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(job))
        self._command("create", "-f", str(path))

    def _command(self, *words: str) -> None:
        where = ["-n", self.namespace, "--kubeconfig", str(self.kubeconfig)]
        line = [TRAINWAY, "mpijob", *words, *where]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(line)}: {done.returncode}\n{done.stdout}{done.stderr}")

    def taken(self, create: Callable[[str], None], name: str) -> Taken:
        """How long a job took."""
        began = time.perf_counter()
        create(name)
        pods: list[tuple[str, float]] = []
        while len(pods) < PODS:
            try:
                birth = self.births.get(timeout=PATIENCE_S)
            except queue.Empty:
                raise SystemExit(f"{name} has {len(pods)} of {PODS} pods") from None
            if birth.labels.get(JOBSET_NAME) == name:
                pods.append((birth.labels[REPLICATED_JOB_NAME], birth.at - began))
        workers = max(after for role, after in pods if role != LAUNCHER)
        return Taken(workers, max(after for _, after in pods))


Measurement = Callable[[Bench, Size], Iterator[Row]]


def sdk(bench: Bench, size: Size) -> Iterator[Row]:
    """A Python program that creates one job after another."""
    times = _times(bench, bench.by_sdk, "sdk", size.sdk)
    yield from _figures("MPIJob.create() to all workers", [each.workers for each in times])
    yield _launcher("MPIJob.create() to the launcher", times)


def command(bench: Bench, size: Size) -> Iterator[Row]:
    """A process for each job."""
    times = _times(bench, bench.by_command, "cli", size.command)
    yield from _figures("mpijob create to all workers", [each.workers for each in times])
    yield _launcher("mpijob create to the launcher", times)


def file(bench: Bench, size: Size) -> Iterator[Row]:
    """A process for each job, whose launcher does not wait for its workers."""
    times = _times(bench, bench.by_file, "file", size.file)
    yield from _figures("mpijob create -f to all pods", [each.all_pods for each in times])


def _times(bench: Bench, create: Callable[[str], None], prefix: str, count: int) -> list[Taken]:
    for number in range(WARM):
        bench.taken(create, f"{prefix}-warm-{number}")
    return [bench.taken(create, f"{prefix}-{number}") for number in range(count)]


def _figures(what: str, times: Sequence[float]) -> Iterator[Row]:
    ordered = sorted(times)
    yield Row(f"{what}, p50", _at(ordered, 0.5), "s")
    beside = f"of {len(ordered)} jobs of {PODS} pods; worst {ordered[-1]:.3f} s"
    yield Row(f"{what}, p99", _at(ordered, 0.99), "s", MOST_S, beside)


def _launcher(what: str, times: Sequence[Taken]) -> Row:
    ordered = sorted(each.all_pods for each in times)
    return Row(f"{what}, p99", _at(ordered, 0.99), "s", None, "after its workers are ready")


def _at(ordered: Sequence[float], share: float) -> float:
    """The value that this share of them does not exceed."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


MEASUREMENTS: dict[str, Measurement] = {"sdk": sdk, "command": command, "file": file}


def rows(chosen: Sequence[Measurement], size: Size) -> Rows:
    """All on one cluster."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="trainway-bench-")))
        cluster = stack.enter_context(KwokCluster(nodes=size.nodes, runs_for_ms=LONGER_THAN_ALL_MS))
        namespace = stack.enter_context(fresh_namespace(cluster))
        door = Guest(cluster, "operator")
        stack.enter_context(operating(cluster, door, namespace, folder / "operator.log"))
        births = stack.enter_context(pod_births(cluster.kubeconfig, namespace))
        bench = Bench(cluster.kubeconfig, namespace, births, folder)
        for measure in chosen:
            yield from measure(bench, size)


def main(words: list[str]) -> int:
    """Print the figures; the exit status says whether all limits are kept."""
    size = SHORT if "--short" in words else Size()
    names = [word for word in words if word != "--short"]
    return suite.run(names, MEASUREMENTS, lambda chosen: rows(chosen, size), UnavailableError)
