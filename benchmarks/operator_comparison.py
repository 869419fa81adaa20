"""The measurements of `benchmarks/operator.py`: our operator beside Kubeflow Trainer's manager.

Both managers run one after the other on fresh clusters of the same kind, an API server with etcd on
this machine, with their own CRDs and with their webhooks on. Each line has what was measured, the
limit it must keep and the figures behind it. Exit status 1 if a limit was missed. Names choose:
burst (1,000 and 5,000 TrainJobs at once), offered (20 a second). `--no-peer` leaves upstream out.
"""

import argparse
import asyncio
import base64
import contextlib
import http.client
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import yaml
from cluster.control_plane import LOOPBACK, ControlPlane, succeeds
from cluster.ports import free_port
from cluster.processes import Process
from operator_process import (
    OperatorProcess,
    cpu_seconds,
    ensure_namespace,
    resident_mb,
    wait_for,
    wait_for_trust,
)

from benchmarks.operator_load import Latencies, offer
from trainway.json_types import Json
from trainway.operator.webhook_configurations import url_client, webhook_configurations
from trainway.runtimes import builtin_runtime

PEER = "github.com/kubeflow/trainer/v2"
PEER_VERSION = "v2.3.0"
PEER_PROGRAM = "trainer-controller-manager"
SMALL, LARGE, RUNS = 1000, 5000, 3
OFFERED_PER_S, OFFERED_JOBS = 20.0, 400
START_S = 60.0


@dataclass(frozen=True)
class Row:
    """One figure, with the limit it must keep."""

    what: str
    value: float
    unit: str
    limit: float | None = None
    more_is_better: bool = False
    beside: str = ""

    @property
    def is_kept(self) -> bool:
        """Whether the value is within its limit."""
        if self.limit is None:
            return True
        return self.value >= self.limit if self.more_is_better else self.value <= self.limit

    def __str__(self) -> str:
        sign = ">=" if self.more_is_better else "<="
        limit = "" if self.limit is None else f"{sign} {self.limit:.4g} {self.unit}"
        verdict = "" if self.limit is None else ("ok" if self.is_kept else "MISSED")
        value = f"{self.value:.4g} {self.unit}"
        return f"{self.what:50} {value:>14} {limit:16} {verdict:7} {self.beside}".rstrip()


@dataclass(frozen=True)
class Measurement:
    """What one manager did with one load."""

    latencies: Latencies
    rss_mb: float
    cpu_s: float
    cluster_cpu_s: float
    """Of the API server and of etcd: what the manager makes them do."""

    @property
    def cpu_ms_per_job(self) -> float:
        """All processor time that a job costs, wherever it is spent."""
        return (self.cpu_s + self.cluster_cpu_s) * 1000 / len(self.latencies.seconds)

    def __str__(self) -> str:
        found = self.latencies
        return (
            f"{found.rate:6.1f} jobs/s, p50 {found.percentile(0.5):6.3f} s, "
            f"p99 {found.percentile(0.99):6.3f} s, {self.rss_mb:5.0f} MB, {self.cpu_s:5.1f} s CPU, "
            f"with the cluster {self.cpu_ms_per_job:.1f} ms a job, "
            f"all created after {found.created_in:.1f} s"
        )


class Manager(Protocol):
    """A program that makes JobSets of TrainJobs."""

    name: str

    def install(self, cluster: ControlPlane) -> None:
        """Put its CRDs and webhook configurations in place."""
        ...

    def start(self, cluster: ControlPlane) -> Process:
        """Start it; ready when this returns."""
        ...


class Ours:
    """`trainway operator run`, as it comes."""

    name = "trainway"

    def install(self, cluster: ControlPlane) -> None:
        """Our CRDs; the webhooks come with the port, at the start."""
        cluster.install_our_crds()
        ensure_namespace(cluster)

    def start(self, cluster: ControlPlane) -> Process:
        """Start it, and wait until the API server trusts the certificate that it makes."""
        operator = OperatorProcess(cluster, cluster.folder / "operator.log")
        documents = webhook_configurations(url_client(operator.url))
        cluster.apply(*documents)
        operator.start()
        operator.wait_ready(START_S)
        wait_for_trust(cluster, documents, "default")
        return operator.process


class Peer:
    """Upstream's manager: with the configuration it is shipped with, or with other limits."""

    def __init__(self, name: str, program: Path, source: Path, qps: int, burst: int) -> None:
        self.name = name
        self._program = program
        self._source = source / "manifests" / "base"
        self._limits = {"qps": qps, "burst": burst}
        self._port = free_port()
        self._health = free_port()

    def install(self, cluster: ControlPlane) -> None:
        """Its CRDs, without the list of them that kustomize reads."""
        folder = cluster.folder / "peer-crds"
        folder.mkdir()
        for file in (self._source / "crds").glob("trainer*.yaml"):
            shutil.copy(file, folder)
        cluster.install_crds(folder)
        ensure_namespace(cluster)

    def start(self, cluster: ControlPlane) -> Process:
        """Start it with a certificate of the cluster's authority."""
        folder = cluster.folder / "peer"
        certificates = folder / "k8s-webhook-server" / "serving-certs"
        certificates.mkdir(parents=True)
        pair = cluster.authority.issue("webhook", hosts=[LOOPBACK])
        shutil.copy(pair.certificate, certificates / "tls.crt")
        shutil.copy(pair.key, certificates / "tls.key")
        config = folder / "config.yaml"
        config.write_text(json.dumps(self._configuration()))
        process = Process(
            PEER_PROGRAM,
            [str(self._program), "--config", str(config)],
            cluster.folder / "peer.log",
            variables={"KUBECONFIG": str(cluster.kubeconfig), "TMPDIR": str(folder)},
        )
        process.start()
        wait_for(lambda: answers(self._health), START_S, "upstream's manager is ready")
        cluster.apply(*self._webhooks(cluster))
        return process

    def _configuration(self) -> Json:
        text = (self._source / "manager" / "controller_manager_config.yaml").read_text()
        shipped: Json = yaml.safe_load(text)
        return shipped | {
            "webhook": {"port": self._port, "host": LOOPBACK},
            "metrics": {"bindAddress": "0"},
            "health": {"healthProbeBindAddress": f"{LOOPBACK}:{self._health}"},
            "leaderElection": {"leaderElect": False},
            "certManagement": {"enable": False},
            "clientConnection": self._limits,
        }

    def _webhooks(self, cluster: ControlPlane) -> Iterator[Json]:
        """Its own configurations, at an address and with our authority."""
        bundle = base64.b64encode(cluster.authority.certificate_file.read_bytes()).decode()
        text = (self._source / "webhook" / "manifests.yaml").read_text()
        for document in yaml.safe_load_all(text):
            for webhook in document["webhooks"]:
                path = webhook["clientConfig"]["service"]["path"]
                url = f"https://{LOOPBACK}:{self._port}{path}"
                webhook["clientConfig"] = {"url": url, "caBundle": bundle}
            yield document


def answers(port: int) -> bool:
    """Whether a manager says that it is ready."""
    return succeeds(http.client.HTTPConnection(LOOPBACK, port, timeout=5), "/readyz")


@contextlib.contextmanager
def running(manager: Manager) -> Iterator[tuple[ControlPlane, int]]:
    """A manager on a cluster of its own; gives the cluster and the process."""
    with ControlPlane() as cluster:
        cluster.install_jobset_crds()
        manager.install(cluster)
        process = manager.start(cluster)
        try:
            cluster.apply(builtin_runtime("torch-distributed") or {})
            assert process.identity is not None  # noqa: S101
            yield cluster, process.identity.pid
        finally:
            process.stop()


def cluster_cpu_seconds(cluster: ControlPlane) -> float:
    """The processor time of the API server and of etcd."""
    identities = (process.identity for process in cluster.processes)
    return sum(cpu_seconds(identity.pid) for identity in identities if identity is not None)


def measure(manager: Manager, count: int, rate: float | None = None) -> Measurement:
    """One load on one manager."""
    with running(manager) as (cluster, pid):
        asyncio.run(offer(cluster.kubeconfig, "warm", 5, None))
        before, cluster_before = cpu_seconds(pid), cluster_cpu_seconds(cluster)
        latencies = asyncio.run(offer(cluster.kubeconfig, "job", count, rate))
        cpu_s = cpu_seconds(pid) - before
        cluster_cpu_s = cluster_cpu_seconds(cluster) - cluster_before
        found = Measurement(latencies, resident_mb(pid), cpu_s, cluster_cpu_s)
    print(f"  {manager.name:24} {count:5} jobs: {found}", flush=True)
    return found


def in_turns(managers: Sequence[Manager], count: int) -> list[Measurement]:
    """The middle one of several runs of each: a machine's own speed varies by a third."""
    rounds = [[measure(manager, count) for manager in managers] for _ in range(RUNS)]
    return [sorted(runs, key=rate)[RUNS // 2] for runs in zip(*rounds, strict=True)]


def rate(found: Measurement) -> float:
    """TrainJobs with a JobSet per second."""
    return found.latencies.rate


def burst(peers: Sequence[Manager]) -> Iterator[Row]:
    """Many jobs at once."""
    managers = [Ours(), *peers[-1:]]
    ours, *theirs = in_turns(managers, SMALL)
    yield rate_row(SMALL, ours, theirs)
    yield Row(f"{SMALL} at once, create to JobSet, p99", ours.latencies.percentile(0.99), "s")
    ours, *theirs = in_turns(managers, LARGE)
    yield rate_row(LARGE, ours, theirs)
    yield from peer_rows(LARGE, ours, theirs)
    limit = min((each.rss_mb for each in theirs), default=None)
    yield Row(f"resident with {LARGE} TrainJobs", ours.rss_mb, "MB", limit)


def rate_row(count: int, ours: Measurement, theirs: Sequence[Measurement]) -> Row:
    """How fast, beside a figure that does not depend on the machine."""
    best = max((each.latencies.rate for each in theirs), default=0.0)
    beside = f"upstream at best {best:.1f} jobs/s" if theirs else ""
    return Row(f"{count} at once", ours.latencies.rate, "jobs/s", 120, True, beside)


def peer_rows(count: int, ours: Measurement, theirs: Sequence[Measurement]) -> Iterator[Row]:
    """The same as ratios to the best of the others."""
    for other in theirs:
        ratio = ours.latencies.rate / other.latencies.rate
        yield Row(f"{count} at once, against upstream", ratio, "x", 2, True)
        yield Row(f"{count} at once, CPU against upstream", ours.cpu_s / other.cpu_s, "x")
        ratio = ours.cpu_ms_per_job / other.cpu_ms_per_job
        yield Row(f"{count} at once, CPU with the cluster's against upstream", ratio, "x")


def offered(peers: Sequence[Manager]) -> Iterator[Row]:
    """A steady stream of jobs."""
    ours = measure(Ours(), OFFERED_JOBS, OFFERED_PER_S)
    theirs = [measure(peer, OFFERED_JOBS, OFFERED_PER_S) for peer in peers[:1]]
    beside = ", ".join(f"upstream {each.latencies.percentile(0.99):.3f} s" for each in theirs)
    found, what = ours.latencies, f"{OFFERED_PER_S:g} jobs/s offered, create to JobSet"
    yield Row(f"{what}, p50", found.percentile(0.5), "s")
    yield Row(f"{what}, p99", found.percentile(0.99), "s", 0.3, False, beside)


MEASUREMENTS = {"burst": burst, "offered": offered}


def peers() -> list[Manager]:
    """Upstream's manager, built once: as it is shipped, and without its limit of requests."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = root / "trainway" / "peers" / f"trainer-{PEER_VERSION}"
    program = folder / PEER_PROGRAM
    if not program.exists():
        print(f"building {PEER_PROGRAM} {PEER_VERSION}, once", flush=True)
        package = f"{PEER}/cmd/{PEER_PROGRAM}@{PEER_VERSION}"
        environment = {**os.environ, "GOBIN": str(folder), "CGO_ENABLED": "0"}
        subprocess.run(["nice", "go", "install", package], env=environment, check=True)
    modules = subprocess.run(
        ["go", "env", "GOMODCACHE"], capture_output=True, text=True, check=True
    ).stdout.strip()
    source = Path(modules, f"{PEER}@{PEER_VERSION}")
    return [
        Peer("upstream, as shipped", program, source, 50, 100),
        Peer("upstream, QPS lifted", program, source, 10_000, 20_000),
    ]


def main(arguments: Sequence[str]) -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MEASUREMENTS))
    parser.add_argument("--no-peer", action="store_true", help="measure only ours")
    options = parser.parse_args(arguments)
    unknown = set(options.names) - set(MEASUREMENTS)
    if unknown:
        print(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(MEASUREMENTS)}")
        return 2
    others = [] if options.no_peer else peers()
    rows = [row for name in options.names or MEASUREMENTS for row in MEASUREMENTS[name](others)]
    for row in rows:
        print(row)
    return 0 if all(row.is_kept for row in rows) else 1
