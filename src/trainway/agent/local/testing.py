"""A job directory with an agent to try things on, and a client of the agent's socket."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from trainway.agent.base.launch import command
from trainway.agent.kubelet import process_tree
from trainway.json_types import Json

PATIENCE = 120.0


class AgentJob:
    """One job directory, and the agent that works in it."""

    def __init__(self, path: Path, spec: Json, **plan: Any) -> None:
        self.path = path
        path.mkdir(parents=True)
        self.id = f"test-{os.urandom(6).hex()}"
        base: Json = {
            "version": 1,
            "id": self.id,
            "name": spec["metadata"]["name"],
            "jobset": spec,
            "workdir": str(path.parent),
            "env": {"PATH": os.environ["PATH"], "HOME": str(path.parent)},
            "host": {"name": "here", "ip": "127.0.0.1"},
        }
        (path / "plan.json").write_text(json.dumps({**base, **plan}))

    def start(self, *options: str, argv: Sequence[str] | None = None) -> None:
        """Start the agent; returns when it is ready."""
        line = list(argv or command(str(self.path), *options))
        done = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE, check=False)  # noqa: S603
        assert done.returncode == 0, f"{done.stderr}\n{self.agent_log()}"

    @property
    def pid(self) -> int:
        """The agent's process."""
        return int(json.loads((self.path / "agent.json").read_text())["pid"])

    def agent_log(self) -> str:
        """What the agent printed."""
        log = self.path / "agent.log"
        return log.read_text() if log.exists() else ""

    def watch(self, start: int = 0, patience: float = PATIENCE) -> Iterator[Json]:
        """The journal's records as they are written, to the last or until patience is at its end.

        An agent that ended takes no clients any more; the rest is on disk then.
        """
        try:
            for record in self._watch(start, patience):
                start = record["seq"] + 1
                yield record
        except TimeoutError:
            return
        except OSError:
            yield from self.records()[start:]

    def _watch(self, start: int, patience: float) -> Iterator[Json]:
        give_up = time.monotonic() + patience
        buffered = b""
        with connected(self.path) as client:
            client.sendall(json.dumps({"op": "watch", "from": start}).encode() + b"\n")
            while True:
                client.settimeout(max(0.001, give_up - time.monotonic()))
                data = client.recv(1 << 16)
                if not data:
                    return
                *lines, buffered = (buffered + data).split(b"\n")
                for line in lines:
                    yield json.loads(line)

    def until(self, wanted: Callable[[Json], object], start: int = 0) -> Json:
        """The first record that is wanted; fails where the job ends, or nothing comes, before."""
        seen = []
        for record in self.watch(start):
            seen.append(record)
            if wanted(record):
                return record
        raise AssertionError(f"not seen: {seen[-8:]}\n{self.agent_log()}")

    def until_pod(self, phase: str, pod: str = "", **fields: Any) -> Json:
        """Wait until a pod is in a phase."""

        def fits(record: Json) -> bool:
            return (
                record["type"] == "pod"
                and record["phase"] == phase
                and record["pod"].startswith(pod)
                and all(record.get(key) == value for key, value in fields.items())
            )

        return self.until(fits)

    def end(self) -> Json:
        """Wait for the end of the job."""
        return self.until(lambda record: record["type"] == "end")

    def ask(self, operation: str, **fields: Any) -> Json:
        """Send one request and wait for its answer."""
        return asked(self.path, {"op": operation, **fields})

    def records(self) -> list[Json]:
        """The journal as it is on disk."""
        text = (self.path / "journal.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    def status(self) -> Json:
        """The last status of the JobSet."""
        found: Json = [r["jobset"] for r in self.records() if r["type"] == "status"][-1]
        return found

    def log(self, name: str) -> list[bytes]:
        """The lines of a log without their times, each after `o ` or `e `."""
        lines = (self.path / "logs" / f"{name}.log").read_bytes().split(b"\n")
        assert lines.pop() == b"", "a log ends with a whole line"
        return [line.split(b" ", 1)[1] for line in lines]

    def processes(self) -> list[int]:
        """All processes of the job that run."""
        return process_tree.marked(self.id)

    def kill_agent(self) -> None:
        """Kill the agent as the kernel would, and wait until it is gone."""
        with self.agent_going():
            os.kill(self.pid, signal.SIGKILL)

    @contextlib.contextmanager
    def agent_going(self) -> Iterator[None]:
        """Wait, at the end, until the agent is gone that ran at the beginning, if one did."""
        try:
            descriptor = os.pidfd_open(self.pid)
        except ProcessLookupError:
            yield
            return
        try:
            yield
            gone, _, _ = select.select([descriptor], [], [], PATIENCE)
            assert gone, "the agent still runs"
        finally:
            os.close(descriptor)

    def stop(self) -> None:
        """End everything, however far it got."""
        with contextlib.suppress(OSError, ValueError):
            self.ask("cancel", grace=0)
        process_tree.signal_all(self.processes())


@contextlib.contextmanager
def agent_job(spec: Json, **plan: Any) -> Iterator[AgentJob]:
    """A started job in a directory of its own, cleaned up at the end."""
    with tempfile.TemporaryDirectory(prefix="agent-") as folder:
        job = AgentJob(Path(folder, "job"), spec, **plan)
        try:
            job.start()
            yield job
        finally:
            job.stop()


def environment(**more: str) -> Mapping[str, str]:
    """The base environment of a plan."""
    return {"PATH": os.environ["PATH"], **more}


def until_written(pipe: Path, count: int = 1) -> None:
    """Wait until so many processes wrote a line: they run, and have done what comes before."""
    with os.fdopen(os.open(pipe, os.O_RDWR)) as lines:
        for _ in range(count):
            lines.readline()


def connected(directory: Path) -> socket.socket:
    """A connection to the agent of a directory."""
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        client.connect(str(directory / "agent.sock"))
    except OSError:
        client.close()
        raise
    return client


def asked(directory: Path, request: Json) -> Json:
    """The answer of that agent to one request."""
    with connected(directory) as client:
        client.settimeout(PATIENCE)
        client.sendall(json.dumps(request).encode() + b"\n")
        with client.makefile("rb") as answers:
            answer: Json = json.loads(answers.readline())
            return answer
