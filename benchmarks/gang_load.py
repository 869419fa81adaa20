"""The measurements of `benchmarks/gangs.py`: many gangs on a large cluster, and what they cost.

The cluster is KWOK's: a real API server, scheduler, JobSet controller and Kueue, and nodes that
only pretend. 500 TrainJobs of 2 to 64 pods are created at once; the quota lets about a fifth of
their pods run at a time. A watch of its own sees to it that every gang ran whole and once. Exit
status 1 if one did not, or if a limit was missed.
"""

import argparse
import asyncio
import json
import re
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cluster.fixtures import fresh_namespace
from cluster.kueue import start_kueue
from cluster.kwok import Guest, KwokCluster
from gang_audit import GangAudit
from kueue_queues import queue_objects
from kwok_gangs import Gang, create, pods_of, runtimes
from kwok_operator import operating
from operator_process import cpu_seconds, resident_mb

from benchmarks.operator_comparison import Row
from trainway.kube.client import Client
from trainway.kube.connection import load_connection

Json = dict[str, Any]

GANGS, NODES = 500, 1000
SIZES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
RUNTIME = "2s"
QUEUE = "gangs"
QUOTA_SHARE = 0.2
CREATORS = 8
PATIENCE_S = 1800.0
OPERATOR = "trainway-operator"
MOST_MB, MOST_REQUESTS = 150.0, 12.0


@dataclass
class Peak:
    """The most memory that a process had, looked at twice a second."""

    pid: int
    mb: float = 0.0
    _done: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Look while the block runs."""
        thread = threading.Thread(target=self._look)
        thread.start()
        try:
            yield
        finally:
            self._done.set()
            thread.join()

    def _look(self) -> None:
        while not self._done.wait(0.5):
            self.mb = max(self.mb, resident_mb(self.pid))


@dataclass(frozen=True)
class Result:
    """What one run came to."""

    gangs: int
    pods: int
    seconds: float
    created_in: float
    most_running: int
    problems: Sequence[str]
    rss_mb: float
    cpu_s: float
    requests: Counter[str]
    """Of the operator, by what was asked."""
    all_requests: float
    others: dict[str, float]
    """The processor time of everyone else."""


def gang(number: int) -> Gang:
    """Sizes from 2 to 64 in turn."""
    return Gang(f"gang-{number}", SIZES[number % len(SIZES)])


def audit_flags(folder: Path) -> list[str]:
    """Let the API server write down what our operator asks, and nothing else."""
    rules = [
        {"level": "Metadata", "users": [OPERATOR], "omitStages": ["RequestReceived"]},
        {"level": "None"},
    ]
    policy = folder / "audit.json"
    policy.write_text(
        json.dumps({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": rules})
    )
    return [f"--audit-policy-file={policy}", f"--audit-log-path={folder / 'audit.log'}"]


def audited(folder: Path) -> Counter[str]:
    """What was asked, each as `verb resource`."""
    lines = (folder / "audit.log").read_text().splitlines()
    events = (json.loads(line) for line in lines)
    return Counter(
        "/".join(filter(None, (f"{event['verb']} {ref['resource']}", ref.get("subresource"))))
        for event in events
        if (ref := event.get("objectRef")) and event["stage"] == "ResponseComplete"
    )


def requests_served(cluster: KwokCluster) -> float:
    """All requests that the API server has answered."""
    page = cluster.kubectl("get", "--raw", "/metrics").stdout
    return sum(
        float(value) for value in re.findall(r"^apiserver_request_total\{.*\} (\S+)$", page, re.M)
    )


def processor_times(cluster: KwokCluster) -> dict[str, float]:
    """Of all processes of the cluster."""
    return {
        process.name: cpu_seconds(process.identity.pid)
        for process in cluster.processes
        if process.identity is not None and process.is_alive()
    }


async def run_all(
    kubeconfig: Path, namespace: str, gangs: Sequence[Gang]
) -> tuple[GangAudit, float]:
    """Create all gangs at once and wait until they have ended; how long the creation took."""
    audit = GangAudit(may_change=True)
    waiting = iter(gangs)

    async def work(client: Client) -> None:
        for each in waiting:
            await create(client, namespace, each, QUEUE)

    async with (
        Client(load_connection(kubeconfig)) as watcher,
        Client(load_connection(kubeconfig)) as creator,
        audit.recording(watcher, namespace),
    ):
        began = time.perf_counter()
        async with asyncio.TaskGroup() as tasks:
            for _ in range(CREATORS):
                tasks.create_task(work(creator))
        created_in = time.perf_counter() - began
        await audit.wait_for_ends(gangs, PATIENCE_S)
    return audit, created_in


def measure(count: int, nodes: int) -> Result:
    """One run on a cluster of its own."""
    gangs = [gang(number) for number in range(count)]
    quota = max(*SIZES, int(pods_of(gangs) * QUOTA_SHARE))
    with tempfile.TemporaryDirectory(prefix="trainway-bench-") as name:
        folder = Path(name)
        with KwokCluster(nodes=nodes, flags=audit_flags(folder)) as cluster:
            cluster.install_our_crds()
            start_kueue(cluster)
            with (
                fresh_namespace(cluster) as namespace,
                operating(
                    cluster, Guest(cluster, "operator"), namespace, folder / "operator.log"
                ) as operator,
            ):
                cluster.apply(*runtimes(RUNTIME), namespace=namespace)
                cluster.apply(*queue_objects(QUEUE, namespace, quota))
                peak = Peak(operator.pid)
                own, others = cpu_seconds(operator.pid), processor_times(cluster)
                served, asked = requests_served(cluster), audited(folder)
                began = time.perf_counter()
                with peak.watching():
                    audit, created_in = asyncio.run(run_all(cluster.kubeconfig, namespace, gangs))
                return Result(
                    count,
                    pods_of(gangs),
                    time.perf_counter() - began,
                    created_in,
                    audit.most_running,
                    audit.problems(gangs),
                    peak.mb,
                    cpu_seconds(operator.pid) - own,
                    audited(folder) - asked,
                    requests_served(cluster) - served,
                    {
                        each: used - others.get(each, 0.0)
                        for each, used in processor_times(cluster).items()
                    },
                )


def rows(found: Result) -> Iterator[Row]:
    """The figures, with their limits."""
    what = f"{found.gangs} gangs, {found.pods} pods"
    beside = f"at most {found.most_running} pods at a time, created in {found.created_in:.1f} s"
    yield Row(f"{what}: all have run after", found.seconds, "s", None, False, beside)
    yield Row("gangs that did not run whole and once", len(found.problems), "", 0)
    yield Row("operator: most memory", found.rss_mb, "MB", MOST_MB)
    everyone = sum(found.others.values()) + found.cpu_s
    beside = f"{found.cpu_s / everyone:.1%} of all"
    yield Row("operator: CPU", found.cpu_s, "s", None, False, beside)
    own = found.requests.total()
    beside = ", ".join(f"{asked} {number}" for asked, number in found.requests.most_common(6))
    yield Row("operator: requests a gang", own / found.gangs, "", MOST_REQUESTS, False, beside)
    beside = f"{own / found.all_requests:.1%} of them by the operator"
    yield Row("all requests to the API server", found.all_requests, "", None, False, beside)


def main(arguments: Sequence[str]) -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gangs", type=int, default=GANGS)
    parser.add_argument("--nodes", type=int, default=NODES)
    options = parser.parse_args(arguments)
    found = measure(options.gangs, options.nodes)
    for problem in found.problems[:20]:
        print(f"  {problem}")
    times = sorted(found.others.items(), key=lambda item: -item[1])
    print("  CPU: " + ", ".join(f"{name} {used:.0f} s" for name, used in times))
    printed = list(rows(found))
    for row in printed:
        print(row)
    return 0 if all(row.is_kept for row in printed) else 1
