"""A pool to try things on: its agent, and hosts on this machine that need no SSH."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from trainway.agent.base.launch import PACKAGE, host_command
from trainway.agent.kubelet import process_tree
from trainway.agent.local.testing import PATIENCE, AgentJob, asked, connected
from trainway.json_types import Json


def demand(spec: Json, **amounts: float) -> list[Json]:
    """The same amounts for every pod of a JobSet."""
    pods = []
    for role in spec["spec"]["replicatedJobs"]:
        count = role["template"]["spec"].get("completions") or 1
        for job in range(role["replicas"]):
            pods += [{"pod": f"{role['name']}-{job}-{pod}", **amounts} for pod in range(count)]
    return pods


def until(holds: Callable[[], object]) -> None:
    """Wait for something that nothing announces."""
    give_up = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < give_up, "it did not happen"
        time.sleep(0.02)


class PoolJob(AgentJob):
    """One job of a pool."""

    def __init__(self, agent: PoolAgent, path: Path, spec: Json, **plan: Any) -> None:
        self.pool = agent
        super().__init__(path, spec, **plan)

    def start(self, *_options: str, **_more: Any) -> None:
        """Submit it."""
        answer = self.pool.ask("submit", directory=str(self.path))
        assert answer == {"ok": True}, answer

    def ask(self, operation: str, **fields: Any) -> Json:
        """Ask for something about this job."""
        return self.pool.ask(operation, id=self.id, **fields)

    def _connect(self) -> socket.socket:
        return self.pool.connect()

    def _watch(self, start: int, patience: float) -> Iterator[Json]:
        give_up = time.monotonic() + patience
        buffered = b""
        with self._connect() as client:
            request = {"op": "watch", "id": self.id, "from": start}
            client.sendall(json.dumps(request).encode() + b"\n")
            while True:
                client.settimeout(max(0.001, give_up - time.monotonic()))
                data = client.recv(1 << 16)
                if not data:
                    return
                *lines, buffered = (buffered + data).split(b"\n")
                for line in lines:
                    record = json.loads(line)
                    if record.get("ok") is False:
                        raise ConnectionRefusedError(record["error"])
                    yield record

    def agent_log(self) -> str:
        """What the pool agent printed."""
        return self.pool.log()

    def placement(self) -> dict[str, str]:
        """The hosts of its pods, as last written."""
        found: dict[str, str] = [
            record["hosts"] for record in self.records() if record["type"] == "placement"
        ][-1]
        return found


class PoolAgent:
    """A pool agent with a folder of its own, and hosts that are folders."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "pools" / "test"
        self.jobs: list[PoolJob] = []

    def home(self, host: str) -> Path:
        """Where a host's agent has its files."""
        return self.folder / "hosts" / host

    def host(self, name: str, **settings: Any) -> Json:
        """The settings of a host."""
        command = host_command(str(self.home(name)), "--idle", "20")
        return {"name": name, "command": command, "address": "127.0.0.1", **settings}

    def start(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Start the agent; returns when it is ready."""
        line = [sys.executable, "-I", "-S", str(PACKAGE), "pool", *options, str(self.path)]
        return subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE, check=False)  # noqa: S603 - our own agent

    def configure(self, *hosts: Json) -> None:
        """Have these hosts."""
        assert self.ask("configure", hosts=list(hosts)) == {"ok": True}

    def job(self, spec: Json, *, amounts: Json | None = None, **plan: Any) -> PoolJob:
        """A job in a directory of its own, submitted."""
        path = self.folder / "jobs" / f"j{len(self.jobs)}"
        pods = demand(spec, **(amounts or {}))
        job = PoolJob(self, path, spec, pool="test", demand=pods, **plan)
        self.jobs.append(job)
        job.start()
        return job

    def connect(self) -> socket.socket:
        """A connection to the agent."""
        return connected(self.path)

    def ask(self, operation: str, **fields: Any) -> Json:
        """Send one request and wait for its answer."""
        return asked(self.path, {"op": operation, **fields})

    def status(self, host: str) -> Json:
        """What the agent says of one host."""
        hosts: list[Json] = self.ask("status")["hosts"]
        return next(item for item in hosts if item["name"] == host)

    def until_host(self, host: str, wanted: str | Callable[[Json], object]) -> Json:
        """Wait until a host is in a state. There is nothing to watch, so it is asked for."""
        give_up = time.monotonic() + PATIENCE
        while True:
            status = self.status(host)
            if status["state"] == wanted or (callable(wanted) and wanted(status)):
                return status
            assert time.monotonic() < give_up, f"{status}\n{self.log()}"
            time.sleep(0.02)

    @property
    def pid(self) -> int:
        """The agent's process."""
        return int(json.loads((self.path / "agent.json").read_text())["pid"])

    def host_pid(self, host: str) -> int:
        """The process of a host's agent."""
        return int(json.loads((self.home(host) / "daemon.json").read_text())["pid"])

    def log(self) -> str:
        """What the agent printed."""
        log = self.path / "agent.log"
        return log.read_text() if log.exists() else ""

    def end(self, number: int = signal.SIGKILL) -> None:
        """Send the agent a signal and wait until it is gone."""
        descriptor = os.pidfd_open(self.pid)
        try:
            signal.pidfd_send_signal(descriptor, number)
            self.wait_gone(descriptor)
        finally:
            os.close(descriptor)

    def wait_gone(self, descriptor: int) -> None:
        """Wait until a process has ended."""
        gone, _, _ = select.select([descriptor], [], [], PATIENCE)
        assert gone, "the agent still runs"

    def stop(self) -> None:
        """End everything, however far it got."""
        for job in self.jobs:
            job.stop()
        give_up = time.monotonic() + PATIENCE
        while agents := self._agents():
            assert time.monotonic() < give_up, agents
            process_tree.signal_all(agents)
            time.sleep(0.01)

    def _agents(self) -> list[int]:
        """All agents of the pool and its hosts, also those that have only just been started."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if os.fsencode(self.folder) in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
        return [pid for pid in found if pid != os.getpid() and process_tree.is_alive(pid)]


@contextlib.contextmanager
def pool_agent(*options: str, hosts: int = 2, **settings: Any) -> Iterator[PoolAgent]:
    """A started pool of hosts a, b, c, ..., cleaned up at the end."""
    with tempfile.TemporaryDirectory(prefix="pool-") as folder:
        pool = PoolAgent(Path(folder))
        try:
            started = pool.start(*options)
            assert started.returncode == 0, started.stderr
            pool.configure(*(pool.host("abcdefgh"[index], **settings) for index in range(hosts)))
            yield pool
        finally:
            pool.stop()
