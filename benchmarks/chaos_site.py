"""Where `benchmarks/chaos.py` runs: one Trainway with this machine, SSH hosts and a real Slurm."""

import contextlib
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from host_processes import HostProcess, described
from installation import Installation, all_pids
from machine import SEARCH_PATH

from slurm_cluster import SlurmCluster
from ssh_hosts import SshHosts

HOSTS, NODES = 4, 3
PLACES = ("local", "ssh/test", "slurm/test")
POOL_CPUS = 2


@dataclass(frozen=True)
class Site:
    """An installation, its machines, and where its jobs leave marks."""

    home: Installation
    hosts: SshHosts
    slurm: SlurmCluster
    marks: Path
    cut_off: set[str] = field(default_factory=set)
    """Hosts without a cable."""
    kills: Counter[str] = field(default_factory=Counter)
    """How many ranks of each job were killed."""
    driver_kills: Counter[str] = field(default_factory=Counter)

    def processes(self) -> list[HostProcess]:
        """All processes that belong to it: of its jobs, and its agents."""
        found = (described(pid) for pid in all_pids())
        mine = str(self.home.home)
        return [
            each
            for each in found
            if each is not None
            and (str(self.marks) in each.words or any(mine in word for word in each.words))
        ]

    def ranks(self) -> list[HostProcess]:
        """Processes of jobs."""
        return [each for each in self.processes() if str(self.marks) in each.words]

    def drivers(self) -> list[HostProcess]:
        """What runs jobs in allocations of Slurm."""
        found = (described(pid) for pid in all_pids())
        shared = str(self.marks.parent / "shared")
        return [
            each
            for each in found
            if each is not None
            and "drive" in each.words
            and any(word.startswith(shared) for word in each.words)
        ]

    def kept(self) -> Path:
        """A copy of what jobs and servers have written, for whoever looks for the reason."""
        folder = Path(tempfile.mkdtemp(prefix="chaos-kept-"))
        for name in ("home", "shared", "marks"):
            source = self.marks.parent / name
            shutil.copytree(source, folder / name, symlinks=True, ignore=_special)
        for log in (*self.slurm.folder.glob("*.*"), *self.slurm.folder.glob("*/slurmd.*")):
            if log.suffix in (".log", ".out", ".txt"):
                shutil.copy(log, folder / f"{log.parent.name}-{log.name}")
        return folder


def _special(folder: str, names: list[str]) -> list[str]:
    """Sockets and pipes, which cannot be copied."""
    return [name for name in names if not _is_ordinary(Path(folder, name))]


def _is_ordinary(path: Path) -> bool:
    return path.is_symlink() or path.is_dir() or path.is_file()


@contextlib.contextmanager
def site() -> Iterator[Site]:
    """All machines; at the end nothing is left of them."""
    with (
        SshHosts(HOSTS) as hosts,
        SlurmCluster(NODES, accounting="text", namespaces=True) as slurm,
        tempfile.TemporaryDirectory(prefix="chaos-", ignore_cleanup_errors=True) as name,
    ):
        folder = Path(name)
        home, marks = folder / "home", folder / "marks"
        home.mkdir()
        marks.mkdir()
        pool = {
            "options": ["-F", str(hosts.config)],
            "env": {"PATH": SEARCH_PATH},
            "hosts": [
                {"host": host.name, "cpus": POOL_CPUS, "memory": "8Gi"} for host in hosts.hosts
            ],
        }
        cluster = {"home": str(folder / "shared"), "env": {"PATH": SEARCH_PATH}}
        settings = {"pools": {"test": pool}, "clusters": {"test": cluster}}
        (home / "config.yaml").write_text(yaml.safe_dump(settings))
        installation = Installation(home, slurm.environment)
        here = Site(installation, hosts, slurm, marks)
        try:
            yield here
        finally:
            hosts.heal_all()
            installation.end()
            for process in here.processes():
                process.kill()
