"""The measurements of `benchmarks/kubernetes.py`: from a command to a pod, and from a pod back.

They run on a *node* cluster of their own, with real pods. Each line has what was measured, the
limit it must keep and what it is compared with. Exit status 1 if a limit was missed. Names choose:
submission, logs.
"""

import contextlib
import json
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from cluster.identities import CONTEXT
from cluster.node import NodeCluster
from shell_jobsets import ShellJobSet

from benchmarks import suite
from benchmarks.pod_births import pod_births
from benchmarks.suite import Row, Rows
from benchmarks.workbench import TRAINWAY, median, scratch_home, trainway
from trainway import Client
from trainway.json_types import Json

Measurement = Callable[[NodeCluster], Iterator[Row]]

NAMESPACE = "default"
INFRA = f"k8s/{CONTEXT}/{NAMESPACE}"
RUNS, LINES = 20, 100
PATIENCE_S = 60.0
TICKING = f"for n in $(seq {LINES}); do cut -d' ' -f1 /proc/uptime; sleep 0.1; done"
MOST_OVER_KUBECTL_S, MOST_LOG_LATENCY_S = 0.3, 0.2


def main(names: list[str]) -> int:
    """Measure, print, judge."""
    return suite.run(names, MEASUREMENTS, rows)


def rows(chosen: list[Measurement]) -> Rows:
    """All on one cluster, each in a home directory of its own."""
    with NodeCluster() as cluster:
        os.environ["KUBECONFIG"] = str(cluster.kubeconfig)
        for measure in chosen:
            with scratch_home():
                yield from measure(cluster)


def submission(cluster: NodeCluster) -> Iterator[Row]:
    """From a submission to the pod, in turns with `kubectl create` of the same JobSet."""
    kubectl = [str(cluster.bin / "kubectl"), "create", "-n", NAMESPACE, "-f"]
    client = Client()
    ways: dict[str, Callable[[Json, Path], None]] = {
        "kubectl": lambda _, file: run([*kubectl, str(file)]),
        "sdk": lambda job, _: discard(client.run(job, on=INFRA)),
        "cli": lambda _, file: run([TRAINWAY, "run", "--detach", "--on", INFRA, str(file)]),
    }
    times: dict[str, list[float]] = {way: [] for way in ways}
    with (
        tempfile.TemporaryDirectory() as folder,
        pod_births(cluster.kubeconfig, NAMESPACE) as births,
    ):
        for number in range(RUNS + 1):
            for way, submit in ways.items():
                job = ShellJobSet(f"{way}-{number}", "true").manifest()
                file = Path(folder, f"{way}-{number}.json")
                file.write_text(json.dumps(job))
                started = time.perf_counter()
                submitting = threading.Thread(target=submit, args=(job, file))
                submitting.start()
                taken = births.get(timeout=PATIENCE_S).at - started
                submitting.join()
                if number:  # the first one finds nothing warm
                    times[way].append(taken)
    base = median(times["kubectl"])
    yield Row("kubectl create to pod, p50", base, "s", None, f"worst {max(times['kubectl']):.3f} s")
    for way, what in (("sdk", "Client.run to pod"), ("cli", "trainway run to pod")):
        over = median(times[way]) - base
        beside = f"p50 {median(times[way]):.3f} s, worst {max(times[way]):.3f} s"
        yield Row(f"{what}, over kubectl, p50", over, "s", MOST_OVER_KUBECTL_S, beside)


def discard(_: object) -> None:
    """A result that nobody needs."""


def run(words: Sequence[str]) -> None:
    """Run a command that must succeed."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")


def logs(cluster: NodeCluster) -> Iterator[Row]:
    """From a line in a pod to the same line on the terminal."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "ticking.json")
        file.write_text(json.dumps(ShellJobSet("ticking", TICKING).manifest()))
        ours = delays([TRAINWAY, "run", "--on", INFRA, str(file)])
        trainway("jobs", "delete", "ticking")
        file.write_text(json.dumps(ShellJobSet("plain", TICKING).manifest()))
        kubectl = str(cluster.bin / "kubectl")
        run([kubectl, "create", "-f", str(file)])
        selector = "jobset.sigs.k8s.io/jobset-name=plain"
        run([kubectl, "wait", "--for=condition=Ready", "pod", "-l", selector, "--timeout=60s"])
        theirs = delays([kubectl, "logs", "-f", "-l", selector])
    beside = (
        f"of {len(ours)} lines; p99 {at(ours, 0.99):.3f} s, kubectl logs -f {median(theirs):.3f} s"
    )
    yield Row("log line, pod to terminal, p50", median(ours), "s", MOST_LOG_LATENCY_S, beside)


def delays(words: Sequence[str]) -> list[float]:
    """How late the lines of a command come; each ends with the machine's uptime."""
    found = []
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None  # noqa: S101 (it is a pipe)
        for line in process.stdout:
            now = time.clock_gettime(time.CLOCK_BOOTTIME)
            with contextlib.suppress(ValueError, IndexError):
                found.append(now - float(line.split()[-1]))
    if process.returncode != 0 or len(found) < LINES // 2:
        raise SystemExit(f"{' '.join(words)}: {process.returncode}, {len(found)} lines")
    return found


def at(values: Sequence[float], share: float) -> float:
    """The value that this share of them does not exceed."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


MEASUREMENTS: dict[str, Measurement] = {
    "submission": submission,
    "logs": logs,
}
