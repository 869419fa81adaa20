"""A server's side of a cluster, and a Slurm that is a few lines long: no job of it runs."""

import asyncio
import fcntl
import json
import os
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Self

from trainway.agent.base import launch
from trainway.agent.base.directory import Directory
from trainway.agent.base.journal import Journal
from trainway.agent.slurm.files import job_files
from trainway.backends.slurm.relay_client import RelayClient
from trainway.json_types import Json

PATIENCE_S: Final = 120.0
LARGE: Final = "x" * 300_000
PROGRAMS: Final = ("sbatch", "squeue", "sacct", "sbcast", "scancel", "scontrol", "srun")
_SCRIPT: Final = """\
#!{python} -IS
import fcntl, json, os, sys
here = {here!r}
program, words = os.path.basename(sys.argv[0]), sys.argv[1:]
lock = open(here + "/lock", "w")
fcntl.flock(lock, fcntl.LOCK_EX)
with open(here + "/state.json") as file:
    state = json.load(file)
jobs = state["jobs"]
with open(here + "/calls", "a") as file:
    file.write(" ".join([program] + words) + "\\n")


def fail(text):
    sys.stderr.write(text + "\\n")
    sys.exit(1)


if state.get("silent"):
    fail(program + ": error: Unable to contact slurm controller (connect failure)")
if program == "sbatch":
    text = sys.stdin.read() if "--test-only" in words else open(words[-1]).read()
    options = dict(
        line[len("#SBATCH --"):].partition("=")[::2]
        for line in text.splitlines() if line.startswith("#SBATCH --")
    )
    if options.get("partition", "main") != "main":
        fail("sbatch: error: Batch job submission failed: Invalid partition name specified")
    listed = [word[len("--array="):] for word in words if word.startswith("--array=")]
    ranks = [part.split("-") for part in ",".join(listed).split(",") if part]
    numbers = [rank for run in ranks for rank in range(int(run[0]), int(run[-1]) + 1)]
    if "--test-only" not in words:
        number = str(state["next"])
        reason = "JobHeldUser" if "hold" in options else "Resources"
        for each in [number + "_" + str(rank) for rank in numbers] or [number]:
            jobs[each] = {{
                "state": "PENDING", "reason": reason, "comment": options.get("comment", ""),
                "cwd": os.getcwd(), "queued": True, "bare": str(state["next"]),
            }}
            state["next"] += 1
        if state.get("dies"):
            with open(here + "/state.json", "w") as file:
                json.dump(state, file)
            fail("sbatch: error: Batch job submission failed: Socket timed out on send/recv")
        print(number)
elif program == "squeue":
    for number, job in jobs.items():
        if job["queued"]:
            is_waiting = job["state"] == "PENDING"
            bare = number.partition("_")[0] if is_waiting else job["bare"]
            fields = (number, bare, job["state"], job["reason"], "main", "1", "")
            print("\\x1f".join((*fields, job["comment"])))
elif program == "sacct":
    for number, job in jobs.items():
        if state["accounting"] != "none":
            print("|".join((number, job["state"], job.get("exit", "0:0"))))
elif program == "scancel":
    job = jobs.get(words[-1])
    if job is None or not job["queued"]:
        fail("scancel: error: Kill job error on job id " + words[-1] + ": Invalid job id specified")
    if "--signal=TERM" in words:
        job["asked"] = True
    else:
        # Slurm forgets those at once that wait as a part of their array.
        job["queued"] = not ("_" in words[-1] and job["state"] == "PENDING")
        job["state"] = "CANCELLED"
elif program == "scontrol" and words[:-1] == ["--oneliner", "show", "job"]:
    job = jobs[words[-1]]
    words = ("JobId=" + job["bare"], "JobState=" + job["state"], "BatchHost=here")
    print(" ".join((*words, "Restarts=" + str(job.get("restarts", 0)))))
elif program == "sbcast":
    source, target = words[-2:]
    if state.get("full"):
        fail("sbcast: error: REQUEST_FILE_BCAST(here): No space left on device")
    with open(source, "rb") as file, open(target, "xb") as copy:
        copy.write(file.read())
elif program == "srun":
    while words[0].startswith("-"):
        words.pop(0)
    os.execvp(words[0], words)
elif program == "scontrol" and words == ["show", "config"]:
    kind = state["accounting"]
    print("ClusterName             = fake\\nSLURM_VERSION           = 22.05.8")
    print("AccountingStorageType   = accounting_storage/" + kind)
elif program == "scontrol" and words[0] in ("uhold", "requeuehold", "release"):
    job = jobs[words[1]]
    job["state"], job["reason"] = "PENDING", "Priority" if words[0] == "release" else "JobHeldUser"
with open(here + "/state.json", "w") as file:
    json.dump(state, file)
"""


@cache
def _agent() -> tuple[str, bytes]:
    """The name and the bytes of the program that a relay makes where it is not yet."""
    with TemporaryDirectory(prefix="agent-") as folder:
        path = Path(folder) / launch.compiled_name()
        launch.write_compiled_zip(path)
        return path.name, path.read_bytes()


class FakeSlurm:
    """What its programs share, as a test sees it.

    Its home has the agent already, as that of a cluster has from the first job on: to make one
    takes a relay longer than all else that a test does. With `is_new` there is none.
    """

    def __init__(self, directory: Path, accounting: str = "none", *, is_new: bool = False) -> None:
        self.directory = directory
        self.home = directory / "home"
        (directory / "bin").mkdir(parents=True)
        script = _SCRIPT.format(python=sys.executable, here=str(directory))
        for name in PROGRAMS:
            program = directory / "bin" / name
            program.write_text(script)
            program.chmod(0o700)
        if not is_new:
            name, text = _agent()
            agents = self.home / job_files.AGENTS
            self.home.mkdir(mode=0o700)
            agents.mkdir(mode=0o700)
            (agents / name).write_bytes(text)
        (directory / "calls").touch()
        (directory / "state.json").write_text(
            json.dumps({"next": 1, "jobs": {}, "accounting": accounting})
        )

    @property
    def environ(self) -> dict[str, str]:
        """In which its programs are found first."""
        return {**os.environ, "PATH": f"{self.directory}/bin:{os.environ['PATH']}"}

    @property
    def cluster(self) -> Json:
        """As a relay is told of it."""
        return {"name": "fake", "login": "", "home": str(self.home)}

    @contextmanager
    def changing(self) -> Iterator[Json]:
        """All that there is, to be changed."""
        with (self.directory / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            file = self.directory / "state.json"
            state = json.loads(file.read_text())
            yield state
            file.write_text(json.dumps(state))

    @property
    def jobs(self) -> dict[str, Json]:
        """What it knows of all jobs, by number."""
        with self.changing() as state:
            found: dict[str, Json] = state["jobs"]
        return found

    def change(self, number: str, **fields: object) -> None:
        """Let something happen to a job."""
        with self.changing() as state:
            state["jobs"][number].update(fields)

    def calls(self, program: str = "") -> list[str]:
        """How its programs were called."""
        lines = (self.directory / "calls").read_text().splitlines()
        return [line for line in lines if line.startswith(program)]

    def job_directory(self, job_id: str) -> Path:
        """The directory of a job on the cluster."""
        return self.home / "jobs" / job_id


class RelayServer:
    """Job directories, and a client."""

    def __init__(self, cluster: Json, environ: Mapping[str, str], home: Path) -> None:
        self.home = home
        self.cluster = cluster
        self.objects: list[Json] = [{"kind": "ConfigMap", "data": {"large": LARGE}}]
        """What a new job brings along."""
        self.settings: Json = {}
        """What else the plan of a new job says to Slurm."""
        self.client = RelayClient(cluster, home / "slurm" / cluster["name"], environ)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.client.close()

    def job(self, job_id: str, array: Json | None = None) -> Path:
        """The directory of a new job."""
        path = self.home / "jobs" / job_id
        path.mkdir(parents=True, exist_ok=True)
        told = {"grace": 1, **self.settings, **({"array": array} if array else {})}
        plan = {"id": job_id, "objects": self.objects, "slurm": told}
        (path / "plan.json").write_text(json.dumps(plan))
        return path

    async def submit(
        self, job_id: str, *options: str, script: str = "", array: Json | None = None
    ) -> str:
        """The number of a job that is handed over; `array` is its place in one."""
        path = self.job(job_id, array)
        mark = array["id"] if array else job_id
        lines = ["#!/bin/sh", f"#SBATCH --comment=trainway:{mark}"]
        lines += [*(f"#SBATCH --{option}" for option in options), script, ""]
        fields = {"directory": str(path), "script": "\n".join(lines)}
        answer = await self.client.ask("submit", id=job_id, **fields)
        return str(answer["job"])

    async def until(self, job_id: str, found: Callable[[Json], bool]) -> list[Json]:
        """The records of a job up to one that is looked for."""
        journal = self.home / "jobs" / job_id / "journal.jsonl"
        seen: list[Json] = []
        async with asyncio.timeout(PATIENCE_S):
            async for update in self.client.watch(job_id, journal, -1):
                for record in update.records:
                    seen.append(dict(record))
                    if found(seen[-1]):
                        return seen
        raise AssertionError(seen)

    def job_directory(self, job_id: str) -> Path:
        """The directory of a job on the cluster."""
        return Path(self.cluster["home"]) / "jobs" / job_id

    def driver(self, job_id: str) -> Journal:
        """The journal of a job on the cluster, as its driver writes it."""
        return Journal(Directory(str(self.job_directory(job_id))), lambda: 0.0)


class FakeServer(RelayServer):
    """A server whose cluster is a fake."""

    def __init__(self, slurm: FakeSlurm, home: Path) -> None:
        super().__init__(slurm.cluster, slurm.environ, home)
        self.slurm = slurm


def run(
    tmp_path: Path,
    act: Callable[[FakeServer], Awaitable[None]],
    accounting: str = "none",
    *,
    is_new: bool = False,
) -> None:
    """Have a server do something."""

    async def acted() -> None:
        slurm = FakeSlurm(tmp_path / "slurm", accounting, is_new=is_new)
        server = FakeServer(slurm, tmp_path / "home")
        async with server:
            await act(server)

    asyncio.run(acted())


def is_type(type_: str, **fields: object) -> Callable[[Json], bool]:
    """Tells whether a record is of a type, and has these fields."""
    wanted = {"type": type_, **fields}
    return lambda record: all(record.get(key) == value for key, value in wanted.items())
