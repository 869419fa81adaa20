"""The measurements of `benchmarks/gangs.py`: many gangs on a large cluster, and what they cost.

The cluster is KWOK's: a real API server, scheduler, JobSet controller and Kueue, and nodes that
only pretend. 500 TrainJobs of 2 to 64 pods are submitted at once; the quota lets a fifth of their
pods run at a time. They come straight to the API server, or with `--server` through a Trainway
server, which follows all of them and keeps their logs. A watch of its own sees to it that every
gang ran whole and once. Exit status 1 if one did not, or if a limit was missed.
"""

import argparse
import asyncio
import json
import os
import re
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from cluster.fixtures import fresh_namespace
from cluster.identities import CONTEXT
from cluster.kueue import start_kueue
from cluster.kwok import OURS, Guest, KwokCluster
from gang_audit import GangAudit
from kueue_queues import queue_objects
from kwok_gangs import Gang, create, pods_of, runtimes
from kwok_operator import operating
from operator_process import cpu_seconds, resident_mb

from benchmarks.operator_comparison import Row
from benchmarks.workbench import scratch_home, trainway
from trainway import Client as Trainway
from trainway.kube.client import Client
from trainway.kube.connection import load_connection

Submit = Callable[[Gang], Awaitable[None]]

GANGS, NODES = 500, 1000
SIZES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
RUNS_FOR = "2s"
QUEUE = "gangs"
QUOTA_SHARE = 0.2
SUBMITTERS = 8
PATIENCE_S = 1800.0
MOST_MB = {"operator": 150.0, "server": 400.0}
MOST_REQUESTS = {"operator": ("gang", 30.0), "server": ("pod", 10.0)}  # logs are read by pod


@dataclass(frozen=True)
class Usage:
    """What one of our programs used."""

    rss_mb: float
    cpu_s: float
    requests: Counter[str]


@dataclass(frozen=True)
class Result:
    """What one run came to."""

    gangs: Sequence[Gang]
    seconds: float
    submitted_in: float
    audit: GangAudit
    ours: Mapping[str, Usage]
    all_requests: float
    others: Mapping[str, float]
    """The processor time of everyone else."""


class Meter:
    """What a process uses while the meter runs; its memory is looked at twice a second."""

    def __init__(self, pid: int) -> None:
        self.rss_mb = 0.0
        self.cpu_s = 0.0
        self._pid = pid
        self._done = threading.Event()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Measure while the block runs."""
        before = cpu_seconds(self._pid)
        thread = threading.Thread(target=self._look)
        thread.start()
        try:
            yield
        finally:
            self._done.set()
            thread.join()
            self.cpu_s = cpu_seconds(self._pid) - before

    def _look(self) -> None:
        while not self._done.wait(0.5):
            self.rss_mb = max(self.rss_mb, resident_mb(self._pid))


class Ledger:
    """Lets the API server write down what our programs ask, and nothing else."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "audit.log"
        self._policy = folder / "audit.json"
        users = [user.name for user in OURS.values()]
        rules = [
            {"level": "Metadata", "users": users, "omitStages": ["RequestReceived"]},
            {"level": "None"},
        ]
        content = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": rules}
        self._policy.write_text(json.dumps(content))

    def flags(self) -> list[str]:
        """For the API server."""
        return [f"--audit-policy-file={self._policy}", f"--audit-log-path={self._file}"]

    def requests(self) -> dict[str, Counter[str]]:
        """What each of our programs has asked so far, as `verb resource`."""
        found = {role: Counter[str]() for role in OURS}
        roles = {user.name: role for role, user in OURS.items()}
        for line in self._file.read_text().splitlines():
            event = json.loads(line)
            if reference := event.get("objectRef"):
                parts = (reference["resource"], reference.get("subresource"))
                what = f"{event['verb']} {'/'.join(filter(None, parts))}"
                found[roles[event["user"]["username"]]][what] += 1
        return found


def gang(number: int) -> Gang:
    """Sizes from 2 to 64 in turn."""
    return Gang(f"gang-{number}", SIZES[number % len(SIZES)])


def requests_served(cluster: KwokCluster) -> float:
    """All requests that the API server has answered."""
    page = cluster.kubectl("get", "--raw", "/metrics").stdout
    samples = re.findall(r"^apiserver_request_total\{.*\} (\S+)$", page, re.MULTILINE)
    return sum(float(value) for value in samples)


def processor_times(cluster: KwokCluster) -> dict[str, float]:
    """Of all processes of the cluster."""
    return {
        process.name: cpu_seconds(process.identity.pid)
        for process in cluster.processes
        if process.identity is not None and process.is_alive()
    }


async def run_all(
    kubeconfig: Path, namespace: str, gangs: Sequence[Gang], submit: Submit
) -> tuple[GangAudit, float]:
    """Submit all gangs and wait until they have ended; also how long the submission took."""
    audit = GangAudit(may_change=True)
    waiting = iter(gangs)

    async def work() -> None:
        for each in waiting:
            await submit(each)

    async with (
        Client(load_connection(kubeconfig)) as watcher,
        audit.recording(watcher, namespace),
    ):
        began = time.perf_counter()
        async with asyncio.TaskGroup() as tasks:
            for _ in range(SUBMITTERS):
                tasks.create_task(work())
        submitted_in = time.perf_counter() - began
        await audit.wait_for_ends(gangs, PATIENCE_S)
    return audit, submitted_in


async def directly(
    kubeconfig: Path, namespace: str, gangs: Sequence[Gang]
) -> tuple[GangAudit, float]:
    """Straight to the API server."""
    async with Client(load_connection(kubeconfig)) as client:
        return await run_all(
            kubeconfig, namespace, gangs, lambda each: create(client, namespace, each, QUEUE)
        )


async def by_server(
    kubeconfig: Path, namespace: str, gangs: Sequence[Gang]
) -> tuple[GangAudit, float]:
    """Through our server, until it knows of every end."""
    client = Trainway()
    infra = f"k8s/{CONTEXT}/{namespace}"

    async def submit(each: Gang) -> None:
        await asyncio.to_thread(client.run, each.trainjob(QUEUE), on=infra)

    found = await run_all(kubeconfig, namespace, gangs, submit)
    while await asyncio.to_thread(client.jobs, active=True, limit=1):
        await asyncio.sleep(0.2)
    return found


def server_pid() -> int:
    """The process of the embedded server, started if there was none."""
    Trainway().jobs(limit=1)
    return int(json.loads(trainway("server", "status", "-o", "json"))["pid"])


def measure(count: int, nodes: int, *, with_server: bool) -> Result:
    """One run on a cluster of its own."""
    gangs = [gang(number) for number in range(count)]
    quota = max(*SIZES, int(pods_of(gangs) * QUOTA_SHARE))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="trainway-bench-")))
        ledger = Ledger(folder)
        cluster = stack.enter_context(KwokCluster(nodes=nodes, flags=ledger.flags()))
        cluster.install_our_crds()
        start_kueue(cluster)
        namespace = stack.enter_context(fresh_namespace(cluster))
        door, log_file = Guest(cluster, "operator"), folder / "operator.log"
        operator = stack.enter_context(operating(cluster, door, namespace, log_file))
        cluster.apply(*runtimes(RUNS_FOR), namespace=namespace)
        cluster.apply(*queue_objects(QUEUE, namespace, quota))
        meters = {"operator": Meter(operator.pid)}
        if with_server:
            stack.enter_context(scratch_home())
            os.environ["KUBECONFIG"] = str(cluster.kubeconfig_of("server"))
            meters["server"] = Meter(server_pid())
        others, served, asked = (
            processor_times(cluster),
            requests_served(cluster),
            ledger.requests(),
        )
        began = time.perf_counter()
        with ExitStack() as measuring:
            for meter in meters.values():
                measuring.enter_context(meter.running())
            way = by_server if with_server else directly
            audit, submitted_in = asyncio.run(way(cluster.kubeconfig, namespace, gangs))
        seconds = time.perf_counter() - began
        now = ledger.requests()
        return Result(
            gangs,
            seconds,
            submitted_in,
            audit,
            {
                role: Usage(meter.rss_mb, meter.cpu_s, now[role] - asked[role])
                for role, meter in meters.items()
            },
            requests_served(cluster) - served,
            {name: used - others.get(name, 0.0) for name, used in processor_times(cluster).items()},
        )


def rows(found: Result, problems: int) -> Iterator[Row]:
    """The figures, with their limits."""
    count, pods, audit = len(found.gangs), pods_of(found.gangs), found.audit
    what = f"{count} gangs, {pods} pods: all have run after"
    beside = f"submitted in {found.submitted_in:.1f} s, at most {audit.most_alive} pods at a time"
    yield Row(what, found.seconds, "s", None, False, beside)
    yield Row("gangs that did not run whole and once", problems, "", 0)
    everyone = sum(found.others.values()) + sum(usage.cpu_s for usage in found.ours.values())
    for role, usage in found.ours.items():
        yield Row(f"{role}: most memory", usage.rss_mb, "MB", MOST_MB[role])
        beside = f"{usage.cpu_s / everyone:.1%} of what the whole cluster used"
        yield Row(f"{role}: CPU", usage.cpu_s, "s", None, False, beside)
        beside = ", ".join(f"{what} {number}" for what, number in usage.requests.most_common(6))
        unit, limit = MOST_REQUESTS[role]
        each = usage.requests.total() / (pods if unit == "pod" else count)
        yield Row(f"{role}: requests a {unit}", each, "", limit, False, beside)
    yield Row("all requests to the API server", found.all_requests, "")


def main(arguments: Sequence[str]) -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gangs", type=int, default=GANGS)
    parser.add_argument("--nodes", type=int, default=NODES)
    parser.add_argument("--server", action="store_true", help="submit through a Trainway server")
    options = parser.parse_args(arguments)
    found = measure(options.gangs, options.nodes, with_server=options.server)
    problems = found.audit.problems(found.gangs)
    for problem in problems[:20]:
        print(f"  {problem}")
    times = sorted(found.others.items(), key=lambda item: -item[1])
    print("  CPU: " + ", ".join(f"{name} {used:.0f} s" for name, used in times))
    printed = list(rows(found, len(problems)))
    for row in printed:
        print(row)
    return 0 if all(row.is_kept for row in printed) else 1
