"""A Trainway whose pool `test` are the hosts of the tests."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import yaml
from host_processes import HostProcess, described
from installation import Installation, all_pids
from machine import SEARCH_PATH
from patience import until

from ssh_hosts import Host, SshHosts
from trainway.json_types import Json

POOL: Final = "test"
ON: Final = f"ssh/{POOL}"
CPUS: Final = 2
"""What each host says it has, whatever this machine has."""


@dataclass(frozen=True)
class SshPool(Installation):
    """An installation that runs its jobs with `--on ssh/test`."""

    hosts: SshHosts = field(kw_only=True)

    def configure(self, hosts: list[Host], env: Mapping[str, str]) -> None:
        """Write config.yaml."""
        pool = {
            "options": ["-F", str(self.hosts.config)],
            "env": {"PATH": SEARCH_PATH, **env},
            "hosts": [{"host": host.name, "cpus": CPUS, "memory": "64Gi"} for host in hosts],
        }
        self.home.mkdir(parents=True, exist_ok=True)
        (self.home / "config.yaml").write_text(yaml.safe_dump({"pools": {POOL: pool}}))

    def submit_here(self, *words: str) -> str:
        """Start a job on the hosts; returns its id."""
        return self.submit("--on", ON, *words)

    def journal(self, job: str) -> list[Json]:
        """What the pool agent wrote down about a job; nothing before it got it."""
        file = self.home / "jobs" / job / "journal.jsonl"
        text = file.read_bytes().rpartition(b"\n")[0] if file.exists() else b""
        return [json.loads(line) for line in text.splitlines()]

    def placements(self, job: str) -> list[dict[str, str]]:
        """Which pod was where, once for each time that the job was placed."""
        found = [each for each in self.journal(job) if each["type"] == "placement"]
        return [each["hosts"] for each in found if each["hosts"] and not each.get("leaving")]

    def placed(self, job: str) -> bool:
        """Whether a job has a place on the hosts, or had one."""
        return self.placements(job) != []

    def hosts_of(self, job: str) -> dict[str, Host]:
        """Where the pods of a job are now, in the order of ranks."""
        placed = sorted(self.placements(job)[-1].items())
        return {pod: self.hosts.named(name) for pod, name in placed}

    def pool_agent(self) -> HostProcess:
        """The process that looks after the pool."""
        (found,) = self.pool_agents()
        return found

    def pool_agents(self) -> list[HostProcess]:
        """All such processes of this home, of whatever pool."""
        folder = str(self.home / "pools")
        found = [described(pid) for pid in all_pids()]
        return [
            each
            for each in found
            if each is not None
            and "pool" in each.words
            and any(word.startswith(folder) for word in each.words)
        ]

    def left_on_hosts(self, job: str) -> list[str]:
        """Files and processes that the hosts still have of a job."""
        left = []
        for host in self.hosts.hosts:
            running = [each for each in host.processes() if each.job == job]
            left += [f"{host.name}: {' '.join(each.words)}" for each in running]
            left += [f"{host.name}: {folder}" for folder in folders_of(host, job)]
            if job in host.authorized_keys.read_text():
                left.append(f"{host.name}: a key")
        return left


def folders_of(host: Host, job: str) -> list[str]:
    """Where a host has files of a job; they may be removed while we look."""
    return [folder for folder, _, _ in os.walk(host.home) if job in folder]


def host_agent(host: Host) -> HostProcess:
    """The process that looks after the pods of a host."""
    (found,) = host_agents(host)
    return found


def host_agents(host: Host) -> list[HostProcess]:
    """All such processes: what left whoever started it, and is no process of a job."""
    orphans = [each for each in host.processes() if each.parent == host.init and not each.job]
    return [each for each in orphans if any(word.endswith(".pyz") for word in each.words)]


@contextmanager
def pool_of(
    hosts: SshHosts,
    home: Path,
    variables: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
) -> Iterator[SshPool]:
    """A pool of all hosts, whose jobs get `env`. At its end the hosts are as they were before."""
    path = (variables or {}).get("PATH", "")
    pool = SshPool(home, variables or {}, hosts=hosts)
    search = path.removesuffix(os.environ["PATH"]) + SEARCH_PATH if path else SEARCH_PATH
    pool.configure(hosts.hosts, {"PATH": search, **(env or {})})
    try:
        yield pool
    finally:
        hosts.heal_all()
        try:
            pool.end()
        finally:
            for agent in pool.pool_agents():
                agent.kill()
    until(lambda: not any(each.job for each in hosts.processes()), "a process of a job is left")


__all__ = ["ON", "POOL", "SshPool", "host_agent", "host_agents", "pool_of", "until"]
