"""A job in an allocation that only looks like one: programs in the place of Slurm's own.

The `srun` here starts its tasks on this machine, whatever node they are for, and carries standard
input and output as the real one does. What was called is in `calls`.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from trainway.agent.base.launch import PACKAGE, write_zip
from trainway.agent.kubelet import process_tree
from trainway.agent.slurm.files.job_files import FOLDERS
from trainway.agent.transfer.parcel import pack
from trainway.json_types import Json

PATIENCE = 60.0
SRUN = """
import json, os, subprocess, sys, threading
folder = os.environ["FAKE_SLURM"]
options = []
words = sys.argv[1:]
while words and words[0].startswith("--"):
    options.append(words.pop(0))
with open(folder + "/calls.jsonl", "a") as file:
    file.write(json.dumps(["srun", *options]) + "\\n")
given = dict(word.partition("=")[::2] for word in options)
if "SLURM_HOSTFILE" in os.environ:
    nodes = open(os.environ["SLURM_HOSTFILE"]).read().split()
else:
    nodes = [given["--nodelist"]]
def there(text, node):
    return text.replace(folder + "/a/", folder + "/" + node + "/")
tasks = []
for rank, node in enumerate(nodes):
    env = {name: there(text, node) for name, text in os.environ.items()}
    env = {**env, "SLURM_PROCID": str(rank), "SLURMD_NODENAME": node, "SLURM_NTASKS": "9"}
    gpus = given.get("--gpus-per-task") or given.get("--gres", "none").rpartition(":")[2]
    if gpus != "none":
        count = int(gpus)
        env["CUDA_VISIBLE_DEVICES"] = ",".join(str(rank * count + gpu) for gpu in range(count))
    call = [there(word, node) for word in words]
    tasks.append(subprocess.Popen(call, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
lock = threading.Lock()
def give():
    while True:
        data = os.read(0, 65536)
        for task in tasks:
            try:
                task.stdin.write(data)
                task.stdin.flush()
                if not data:
                    task.stdin.close()
            except OSError:
                pass
        if not data:
            return
def take(task):
    for line in task.stdout:
        with lock:
            os.write(1, line)
threading.Thread(target=give, daemon=True).start()
readers = [threading.Thread(target=take, args=(task,)) for task in tasks]
for reader in readers:
    reader.start()
for reader in readers:
    reader.join()
codes = [task.wait() for task in tasks]
if os.path.exists(folder + "/stuck"):
    os.remove(folder + "/stuck")
    threading.Event().wait()
if any(code < 0 for code in codes):
    os.write(2, b"srun: error: node: task: Killed\\n")
os._exit(max(abs(code) for code in codes))
"""
OTHERS = """
import json, os, sys
folder = os.environ["FAKE_SLURM"]
name, words = os.path.basename(sys.argv[0]), sys.argv[1:]
if "node" in words:
    state = open(folder + "/state").read()
    for node in words[-1].split(","):
        print(f"NodeName={node} NodeAddr=127.0.0.1 Port=1 State={state} ThreadsPerCore=1")
elif "config" in words:
    print("SlurmctldTimeout        = 120 sec\\nSlurmdTimeout           = 300 sec")
elif "job" in words:
    with open(folder + "/looks", "a") as file:
        file.write(".")
    print(open(folder + "/facts").read())
else:
    with open(folder + "/calls.jsonl", "a") as file:
        file.write(json.dumps([name, *words]) + "\\n")
    open(folder + "/facts", "w").write("JobId=7 JobState=COMPLETING")
    if name == "scancel":
        os.kill(os.getppid(), 15)
"""
LINE = ["srun", "--exact", "--mem=0", "--kill-on-bad-exit=0"]


class SlurmJob:
    """A job's directory on a cluster, and the attempts to run it."""

    def __init__(self, folder: Path, spec: Json, **plan: Any) -> None:
        self.path = folder / "job"
        self.path.mkdir()
        self._folder = folder
        self.id = f"test-{os.urandom(6).hex()}"
        base: Json = {
            "version": 1,
            "id": self.id,
            "name": spec["metadata"]["name"],
            "jobset": spec,
            "workdir": str(folder),
            "env": {},
            "slurm": {"roles": {}, "requeue": True},
        }
        (self.path / "plan.json").write_text(json.dumps({**base, **plan}))
        self._roles = [role["name"] for role in spec["spec"]["replicatedJobs"]]
        self.say_of_job("JobId=7 JobState=RUNNING PreemptTime=None")
        self.say_of_nodes("ALLOCATED")
        programs = folder / "bin"
        programs.mkdir()
        for name, text in (("srun", SRUN), ("scontrol", OTHERS), ("scancel", OTHERS)):
            (programs / name).write_text(f"#!{sys.executable} -IS\n{text}")
            (programs / name).chmod(0o755)
        self.line = list(LINE)
        self.agent = str(PACKAGE)
        self.nodes = "a,b"
        self.tasks = "1(x2)"
        self.drivers: list[subprocess.Popen[bytes]] = []

    def stick(self) -> None:
        """Let the srun that ends next not end: a node of it has lost its task."""
        (self._folder / "stuck").touch()

    def drive(self, restarts: int = 0) -> subprocess.Popen[bytes]:
        """Start an attempt."""
        words = [word for role in self._roles for word in ("--role", role, *self.line)]
        environ = {
            "PATH": f"{self._folder}/bin:{os.environ['PATH']}",
            "HOME": str(self._folder),
            "FAKE_SLURM": str(self._folder),
            "TRAINWAY_AGENT": self.agent,
            "SLURM_JOB_ID": "7",
            "SLURM_JOB_NODELIST": self.nodes,
            "SLURM_TASKS_PER_NODE": self.tasks,
            "SLURMD_NODENAME": "a",
        }
        if restarts:
            environ["SLURM_RESTART_COUNT"] = str(restarts)
        with (self._folder / f"slurm-7.{restarts}.out").open("ab") as output:
            driver = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-IS", self.agent, "slurm", "drive", str(self.path), *words],
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self.drivers.append(driver)
        return driver

    def run(self, restarts: int = 0) -> int:
        """An attempt from its start to its end; the exit status."""
        return self.end_of(self.drive(restarts))

    def end_of(self, driver: subprocess.Popen[bytes]) -> int:
        """Wait for an attempt; its exit status."""
        try:
            return driver.wait(PATIENCE)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(self.state()) from error

    def state(self) -> str:
        """All that tells why something waits: the journal, the processes, the files."""
        folder = os.fsencode(self._folder)
        processes = [f"{pid} {line!r}" for pid, line in command_lines() if folder in line]
        files = [path for path in self._folder.rglob("*") if path.is_file()]
        sizes = [f"{path.stat().st_size} {path.relative_to(self._folder)}" for path in files]
        records = [json.dumps(record) for record in self.records()[-4:]]
        return "\n".join([*records, *processes, *sorted(sizes), self.said()])

    def said(self) -> str:
        """What the drivers printed."""
        return "".join(path.read_text() for path in sorted(self._folder.glob("slurm-*.out")))

    def say_of_job(self, text: str) -> None:
        """What Slurm will say about the job."""
        (self._folder / "facts").write_text(text)

    def say_of_nodes(self, state: str) -> None:
        """What Slurm will say of each of the nodes."""
        (self._folder / "state").write_text(state)

    def looks(self) -> int:
        """How often Slurm was asked about the job."""
        path = self._folder / "looks"
        return len(path.read_text()) if path.exists() else 0

    def wish(self, word: str) -> None:
        """What the relay puts down."""
        (self.path / "wish").write_text(word)

    def calls(self) -> list[list[str]]:
        """The programs of Slurm that were called, with their words."""
        path = self._folder / "calls.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def records(self) -> list[Json]:
        """The journal."""
        path = self.path / "journal.jsonl"
        if not path.exists():
            return []
        lines = path.read_bytes().rpartition(b"\n")[0].splitlines()
        return [json.loads(line) for line in lines]

    def find(self, **fields: Any) -> Json | None:
        """The last record with these fields."""
        found = [record for record in self.records() if fields.items() <= record.items()]
        return found[-1] if found else None

    def until(self, what: Callable[[], Any]) -> Any:
        """Wait for something to be so; what it is.

        A look at all processes takes the processor from what is waited for: most is left to it.
        """
        give_up = time.monotonic() + PATIENCE
        while True:
            began = time.monotonic()
            found = what()
            if found:
                return found
            assert time.monotonic() < give_up, self.state()
            select.select([], [], [], max(0.02, 3 * (time.monotonic() - began)))

    def until_record(self, **fields: Any) -> Json:
        """Wait for a record with these fields."""
        found: Json = self.until(lambda: self.find(**fields))
        return found

    def until_log(self, name: str, text: str) -> None:
        """Wait until something is in a log."""
        path = self.path / "logs" / f"{name}.log"
        self.until(lambda: path.exists() and text in path.read_text())

    def log(self, name: str) -> list[str]:
        """The lines of a log, without time and stream."""
        lines = (self.path / "logs" / f"{name}.log").read_text().splitlines()
        return [line.split(" ", 2)[2] for line in lines]

    def agents(self, uid: str = "") -> list[int]:
        """The processes of tasks; with a uid that of one pod."""
        found = running("slurm", "pod", str(self.path))
        if not uid:
            return found
        inside = process_tree.of_pod(uid)
        return [pid for pid in found if set(process_tree.descendants([pid])) & set(inside)]

    def processes(self) -> list[int]:
        """All that runs of the job."""
        return process_tree.marked(self.id)

    def close(self) -> None:
        """End everything."""
        for driver in self.drivers:
            with contextlib.suppress(OSError):
                os.killpg(driver.pid, signal.SIGKILL)
            driver.wait(PATIENCE)
        process_tree.signal_all(self.agents())
        process_tree.signal_all(self.processes())


class ScatteredJob(SlurmJob):
    """The same on nodes that share no files: each has a folder, with what sbcast brought there."""

    def __init__(self, folder: Path, spec: Json) -> None:
        super().__init__(folder, spec, slurm={"roles": {}, "requeue": True, "shared": False})
        write_zip(self.path / "agent.pyz")
        for name in FOLDERS:
            (self.path / name).mkdir()
        for node in ("a", "b"):
            (folder / node).mkdir()
            pack(str(self.path), str(folder / node / "trainway-7.0.x.pyz"))
        self.path = folder / "a" / "trainway-7.0"
        self.agent = f"{self.path}.x.pyz"

    def feeds(self, node: str) -> list[int]:
        """The processes that send what is written on a node."""
        return running("slurm", "feed", str(self._folder / node / self.path.name))

    def left(self) -> list[str]:
        """What is on the nodes."""
        return sorted(path.name for node in "ab" for path in (self._folder / node).iterdir())


def running(*words: str) -> list[int]:
    """The processes that were started with these words, one after the other, but for srun."""
    wanted = b"\0".join(word.encode() for word in words)
    return [pid for pid, line in command_lines() if wanted in line and b"srun" not in line]


def command_lines() -> Iterator[tuple[int, bytes]]:
    """All processes, with the words that they were started with."""
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            yield int(entry.name), (entry / "cmdline").read_bytes()


@contextlib.contextmanager
def slurm_job(spec: Json, **plan: Any) -> Iterator[SlurmJob]:
    """A job that was never run, cleaned up at the end."""
    with tempfile.TemporaryDirectory(prefix="slurm-", ignore_cleanup_errors=True) as folder:
        job = SlurmJob(Path(folder), spec, **plan)
        try:
            yield job
        finally:
            job.close()


@contextlib.contextmanager
def scattered_job(spec: Json) -> Iterator[ScatteredJob]:
    """One that shares no files."""
    with tempfile.TemporaryDirectory(prefix="slurm-", ignore_cleanup_errors=True) as folder:
        job = ScatteredJob(Path(folder), spec)
        try:
            yield job
        finally:
            job.close()
