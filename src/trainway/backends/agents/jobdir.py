"""The directory of one job: what lies where, and how a file in it is written.

The layout is shared with the agent, which has it from `plan.json` alone.
"""

import fcntl
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainway.backends import job_file
from trainway.backends.job_removal import remove_tree

PRIVATE_DIR = 0o700
PRIVATE_FILE = 0o600
LARGEST_PLAN = 1 << 28
"""How many bytes a plan may have, twice as many as a request: it has the files of a job in it."""


@dataclass(frozen=True)
class AgentDir:
    """Paths in a directory that an agent has for itself."""

    path: Path

    @property
    def socket(self) -> Path:
        """Where the agent listens."""
        return self.path / "agent.sock"

    @property
    def agent_log(self) -> Path:
        """What the agent itself had to say."""
        return self.path / "agent.log"

    def is_locked(self) -> bool:
        """Whether an agent holds the job's lock."""
        try:
            lock = os.open(self.path / "agent.lock", os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(lock)
        return False


@dataclass(frozen=True)
class JobDir(AgentDir):
    """Paths in the directory of one job."""

    @property
    def plan(self) -> Path:
        """What was submitted; never changed."""
        return self.path / "plan.json"

    def read_plan(self) -> Any:
        """The plan as data; FileNotFoundError where there is none."""
        return json.loads(job_file.read(self.path, self.plan, LARGEST_PLAN))

    @property
    def journal(self) -> Path:
        """What happened; written by the agent alone."""
        return self.path / "journal.jsonl"

    @property
    def logs(self) -> Path:
        """One file for each container and attempt."""
        return self.path / "logs"

    @property
    def output(self) -> Path:
        """What the job keeps; the same in every attempt."""
        return self.path / "output"

    @property
    def status(self) -> Path:
        """Certificate and token of the endpoint that training code reports to."""
        return self.path / "status"

    def create(self) -> None:
        """Make the directory and those in it that must be there before the agent starts."""
        for folder in (self.path, self.output, self.logs, self.status):
            folder.mkdir(mode=PRIVATE_DIR, parents=True, exist_ok=True)

    def remove(self) -> None:
        """Delete everything, also what a job made read-only; it may be gone already."""
        remove_tree(self.path)


def write_private(path: Path, data: bytes, *, is_durable: bool = False) -> None:
    """Write a file that nobody else may read; it is there as a whole or not at all.

    Only what is `is_durable` also survives the loss of power: that takes its time.
    """
    draft = path.with_name(f".{path.name}.new")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    descriptor = os.open(draft, flags, PRIVATE_FILE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        if is_durable:
            file.flush()
            os.fsync(file.fileno())
    draft.replace(path)
