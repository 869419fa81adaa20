"""The directory of one job on the cluster, on a file system that its nodes share.

What is written here is all that a job consists of; the driver writes the rest. `submitting` stands
from before sbatch is run until its answer is written down, so that a relay that died in between
is found out, and the job is looked for before it is submitted again.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress

from trainway.agent.base.directory import Directory
from trainway.agent.base.journal_reader import NAME as JOURNAL
from trainway.agent.slurm.array_place import ArrayPlace
from trainway.agent.transfer.blobs import references
from trainway.agent.transfer.file_names import AGENT, PLAN, STOPPED, WISH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.agent.transfer.blobs import Blobs
    from trainway.json_types import Json


JOBS = "jobs"
AGENTS = "agent"
SCRIPT = "script.sbatch"
NUMBER, SUBMITTING, TOKEN = "slurm.json", "submitting", "token"
ANNEXES = "annexes"
"""The folder in which the driver of an elastic job and its annexes find each other."""
NODE_LIMIT = "node-limit"
"""The file that says how many nodes an elastic job may have."""
DRIVER, HEARD, TAKEN = "driver", "heard", "taken"
"""On nodes that do not see this: the number of the driver's process; written whenever the relay was
heard; written when it has everything."""
RUN, SUSPEND, CANCEL, LEAVE = "run", "suspend", "cancel", "leave"
"""What is wanted of a job; `leave`: it is given up here, and goes on in another place."""
FOLDERS = ("logs", "output", "volumes", "pods")
GRACE = 30.0
SCRATCH = "/tmp"  # noqa: S108 - on nodes, with a name that nobody else can take
_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,127}")
_TOKEN = re.compile(r"(\d+(_\d+)?)\.\d+\s*$")


class JobFilesError(Exception):
    """A job has no directory, or cannot have one."""


class MissingJobError(JobFilesError):
    """There is no directory of the job."""


class JobFiles:
    """What lies in the directory of a job."""

    def __init__(self, home: Directory, identity: str, *, make: bool = False) -> None:
        if not _ID.fullmatch(identity):
            raise JobFilesError(f"{identity!r} is not the id of a job")
        self.id = identity
        self._home = home
        path = f"{JOBS}/{identity}"
        if make:
            home.make(path)
        try:
            self.directory = Directory(home.join(path))
        except FileNotFoundError:
            raise MissingJobError(f"job {identity} is not on this cluster") from None

    def close(self) -> None:
        """Let go of it."""
        self.directory.close()

    def put(self, plan: Json, script: str, blobs: Blobs, agent: str, history: str = "") -> None:
        """Write all that a job consists of; `agent` is the program that its nodes run.

        `history` is the blob with the journal of one that has come from another place.
        """
        blobs.keep(references(plan.get("objects") or []), self.directory)
        for name in FOLDERS:
            self.directory.make(name)
        self.directory.replace(PLAN, json.dumps(plan).encode())
        self.directory.replace(SCRIPT, script.encode())
        _link(agent, self.directory)
        if history and not self.may_be_submitted:  # else its driver may write there
            self.directory.replace(JOURNAL, blobs.read(history), durable=True)
        self._join_array()
        self.directory.remove(NODE_LIMIT)  # of a time before it went elsewhere
        self.wish(RUN)

    @property
    def place(self) -> ArrayPlace | None:
        """Its place in an array; None: it is in none."""
        told = (self._plan().get("slurm") or {}).get("array")
        if not told:
            return None
        place = ArrayPlace(told)
        if not _ID.fullmatch(place.id):
            raise JobFilesError(f"{place.id!r} is not the id of an array")
        return place

    def array_path(self, place: ArrayPlace) -> str:
        """The directory of its array, in which its own is found under its rank."""
        return self._home.join(place.folder)

    def _join_array(self) -> None:
        place = self.place
        if place is not None:
            self._home.make(place.folder)
            link = f"{place.folder}/{place.rank}"
            self._home.remove(link)
            os.symlink(f"../../{JOBS}/{self.id}", link, dir_fd=self._home.fd)

    def leave_array(self) -> None:
        """Be found in its array no more; the last one takes the array's directory along."""
        place = self.place
        if place is not None:
            with suppress(OSError):  # others are there, or it is gone
                self._home.remove(f"{place.folder}/{place.rank}")
                os.rmdir(place.folder, dir_fd=self._home.fd)

    @property
    def owner(self) -> str:
        """By what its comment and its number together say whose it is."""
        place = self.place
        return self.id if place is None else place.owner

    @property
    def grace(self) -> float:
        """How long its pods may take to end."""
        return float((self._plan().get("slurm") or {}).get("grace", GRACE))

    @property
    def may_be_requeued(self) -> bool:
        """Whether Slurm may begin it anew."""
        return bool((self._plan().get("slurm") or {}).get("requeue", True))

    @property
    def is_shared(self) -> bool:
        """Whether its nodes see this directory."""
        return bool((self._plan().get("slurm") or {}).get("shared", True))

    @property
    def scratch(self) -> str:
        """Where its nodes keep its files, if they do not."""
        return str((self._plan().get("slurm") or {}).get("scratch") or SCRATCH)

    @property
    def python(self) -> str:
        """The Python of the nodes."""
        login: Json = (self._plan().get("slurm") or {}).get("login") or {}
        return os.path.expanduser(str(login.get("python") or "python3"))

    @property
    def brings_output(self) -> bool:
        """Whether what it leaves is wanted where it came from."""
        return self._plan().get("outputs") != "keep"

    def _plan(self) -> Json:
        try:
            plan: Json = json.loads(self.directory.read(PLAN))
        except (OSError, ValueError):
            return {}
        return plan

    @property
    def number(self) -> str:
        """The number that Slurm gave it; empty: none, as far as is known."""
        try:
            return str(json.loads(self.directory.read(NUMBER))["job"])
        except (OSError, ValueError, KeyError):
            pass
        try:
            found = _TOKEN.match(self.directory.read(TOKEN).decode("ascii", "replace"))
        except OSError:
            return ""
        return found.group(1) if found else ""

    def set_number(self, number: str) -> None:
        """Write down which one it is."""
        self.directory.replace(NUMBER, json.dumps({"job": number}).encode(), durable=True)
        self.directory.remove(SUBMITTING)

    @property
    def may_be_submitted(self) -> bool:
        """Whether sbatch was run and nobody knows what it answered."""
        return self.has(SUBMITTING)

    def begin_submission(self) -> None:
        """Note that sbatch is about to be run."""
        self.directory.replace(SUBMITTING, b"", durable=True)

    @property
    def has_begun(self) -> bool:
        """Whether Slurm has it, or may have it."""
        return bool(self.number) or self.may_be_submitted

    def wish(self, word: str) -> None:
        """Tell the driver what is wanted of it; that it leaves is never forgotten.

        One that has stopped for just that does not say so twice.
        """
        if word == self.wished:
            return
        self.directory.replace(WISH, word.encode(), durable=word == LEAVE)
        self.directory.remove(STOPPED)

    def limit_nodes(self, most: int) -> None:
        """Tell the driver of an elastic job how many nodes it may have."""
        self.directory.replace(NODE_LIMIT, str(most).encode(), durable=True)

    @property
    def node_limit(self) -> int | None:
        """How many nodes it may have; None: all."""
        try:
            return int(self.directory.read(NODE_LIMIT))
        except (OSError, ValueError):
            return None

    @property
    def wished(self) -> str:
        """What is wanted of it."""
        try:
            return self.directory.read(WISH).decode("ascii", "replace").strip()
        except OSError:
            return ""

    def has(self, name: str) -> bool:
        """Whether a file is there."""
        try:
            os.stat(name, dir_fd=self.directory.fd)
        except OSError:
            return False
        return True


def _link(agent: str, directory: Directory) -> None:
    """Have a job keep the program that it began with."""
    directory.remove(AGENT)
    try:
        os.link(agent, AGENT, dst_dir_fd=directory.fd)
    except OSError:  # a file system without links
        with open(agent, "rb") as file:
            directory.write(AGENT, file.read())
